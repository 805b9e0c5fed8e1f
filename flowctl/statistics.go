// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// Counters are what a link has done since it was created, or since ResetStatistics.
// Unlike a kernel's they outlive a reset of the link, so that they tell of what led to
// it. Source: docs/spec/02-link.md §9.
type Counters struct {
	SentPackets, SentStates, SentProbes, SentNacks, SentAcks      uint64
	RecvPackets, RecvStates, RecvProbes, RecvNacks                uint64
	Retransmits, Duplicates, Deferred, Congested, BadAcks, Resets uint64
	SentBundles, SentBundled, SentFragments, SentFragmented       uint64
	RecvBundles, RecvBundled, RecvFragments, RecvFragmented       uint64

	Rejected        uint64        // messages the session check refused
	NoChunk         uint64        // messages not sent, or deferred, for want of memory
	BadBlocks       uint64        // lists of gap-ack blocks that cannot be
	RepeatedReports uint64        // of missing packets, as nothing moved
	StallProbes     uint64        // probes as nothing was acknowledged
	Blocked         time.Duration // time during which a sender had been turned away
}

// A Profile is what is looked at with every tick of a link that is up.
type Profile struct {
	QueueSamples, QueueSum, QueueMax uint64               // packets unacknowledged
	LengthSum                        uint64               // bytes of messages, of the oldest packet unacknowledged
	Lengths                          [len(lengths)]uint64 // messages of up to that many bytes
}

// lengths are the classes of a profile; the last has no bound.
var lengths = [...]int{64, 256, 1024, 4096, 16384, 32768, frame.MaxMessage}

// LengthSamples is the number of messages in the profile.
func (p *Profile) LengthSamples() (n uint64) {
	for _, x := range p.Lengths {
		n += x
	}
	return n
}

// sample takes one look at a queue of n packets, which is not empty; head is the message in front.
func (p *Profile) sample(n int, head []byte) {
	p.QueueSum += uint64(n)
	p.QueueMax = max(p.QueueMax, uint64(n))
	size := messageLen(head)
	p.LengthSum += uint64(size)
	for i, most := range lengths {
		if size <= most || i == len(lengths)-1 {
			p.Lengths[i]++
			return
		}
	}
}

// messageLen is the length of the message in a packet, of the whole one where the
// packet is its first fragment.
func messageLen(b []byte) int {
	if frame.UserOf(b) == frame.UserFragment {
		if m, err := frame.Parse(b); err == nil {
			if f, err := frame.ParseFragment(m); err == nil && f.Type() == frame.FirstFragment && len(f.Data()) >= frame.ShortLen {
				return frame.ClaimedSize(f.Data())
			}
		}
	}
	return len(b)
}

// takeSample takes one look at what is not acknowledged.
func (l *Link) takeSample() {
	l.samples++
	if l.unacked == 0 {
		return
	}
	if l.profile == nil {
		l.profile = &Profile{}
	}
	l.profile.sample(l.Unacked(), l.transmit.At(0).b.Bytes()[frame.EthernetLen:])
}

// Statistics are a link's counters and how it stands.
type Statistics struct {
	Counters
	Profile
	Window, MinWindow, MaxWindow int           // packets
	Threshold                    int           // of the window's slow start, packets
	RTT                          time.Duration // estimated; 0: unknown
	Unacked, Backlog             int           // packets
	Waiting                      [frame.System + 1]int
	Limits                       [frame.System + 1]int // of Waiting
}

// Statistics returns the link's counters and how it stands at now.
func (l *Link) Statistics(now time.Duration) Statistics {
	s := Statistics{
		Counters: l.Counters,
		Window:   l.Window(), MinWindow: int(l.least), MaxWindow: int(l.most), Threshold: int(l.ssthresh),
		RTT: l.estimate, Unacked: l.Unacked(), Backlog: l.backlog.Len(),
	}
	if l.profile != nil {
		s.Profile = *l.profile
	}
	s.QueueSamples = l.samples
	if q := l.backlog; q != nil {
		s.Waiting = [frame.System + 1]int(q.waiting[:])
		if q.timed {
			s.Blocked += now - q.since
		}
	}
	for imp := range s.Limits {
		s.Limits[imp] = l.Limit(frame.Importance(imp))
	}
	return s
}

// ResetStatistics sets all counters to 0.
func (l *Link) ResetStatistics(now time.Duration) {
	l.Counters, l.samples, l.profile = Counters{}, 0, nil
	if l.backlog != nil {
		l.backlog.since = now
	}
}
