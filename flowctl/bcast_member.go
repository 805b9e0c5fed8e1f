// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Member is a peer that answers for the packets of the node's broadcast link: for all
// that were sent for the first time after it joined.
//
//	Join ──► unbelieved ──(Confirm)──► believed ──(Leave)──► void
//
// As the link has at most 50 packets under way, one word says which of them the member has.
type Member struct {
	s         *BroadcastSender // nil once it has left
	beyond    uint64           // bit i: it has packet acked+1+i as well; bit 0 is never set
	rtt       time.Duration    // estimated time in which it answers, 0 while unknown
	place     int32            // among the members
	acked     frame.Seq        // it has all up to here
	confirmed bool
}

// Join adds a peer that came up.
func (s *BroadcastSender) Join() *Member {
	m := &Member{s: s, place: int32(len(s.members)), acked: s.Last()}
	s.members = append(s.members, m)
	return m
}

// Confirm says that the acknowledgements of the member are to be believed from now on:
// it has received the opening of the link. Source: docs/spec/04-broadcast.md §2.
func (m *Member) Confirm() { m.confirmed = true }

// Confirmed reports whether the member's acknowledgements are believed.
func (m *Member) Confirmed() bool { return m.confirmed }

// Acked is the last packet up to which the member has acknowledged all.
func (m *Member) Acked() frame.Seq { return m.acked }

// Behind reports whether the member has not acknowledged all it should.
func (m *Member) Behind() bool { return m.s != nil && m.acked != m.s.Last() }

// Overdue reports whether the member has owed the acknowledgement of one packet for
// longer than 10 tolerances, since it was sent, or repeated first. It holds up all
// others, and is to be given up.
func (m *Member) Overdue(now time.Duration) bool {
	if !m.Behind() {
		return false
	}
	p := m.s.packet(m.acked + 1)
	since := p.at
	if p.retransmits > 0 {
		since = p.first
	}
	return now-since > failureTolerance*m.s.sup.tolerance
}

// Leave takes a member out that went down, as if it had acknowledged everything. With
// the last one what is queued is dropped, and as a kernel numbers begin anew. A member that left
// before is not touched.
func (s *BroadcastSender) Leave(now time.Duration, m *Member) {
	if m.s != s {
		return
	}
	released := s.Unacked()
	m.advance(s.Last())
	released -= s.Unacked()
	last := s.members[len(s.members)-1]
	s.members[m.place], last.place = last, m.place
	s.members[len(s.members)-1] = nil
	s.members = s.members[:len(s.members)-1]
	m.s = nil
	if len(s.members) == 0 {
		s.purge(now)
	} else {
		s.settle(now, released)
	}
}

// packet is the packet with a number, which some member has not acknowledged.
func (s *BroadcastSender) packet(seq frame.Seq) *sent {
	oldest := s.sndNxt - frame.Seq(s.transmit.Len())
	return s.transmit.At(oldest.Distance(seq))
}

// has notes that a member that owed a packet owes it no longer.
func (s *BroadcastSender) has(p *sent) {
	if p.owing--; p.owing == 0 {
		s.hasGot(p.b)
		p.b.Recycle()
		p.b = nil
	}
}

// advance notes that the member has all up to ack.
func (m *Member) advance(ack frame.Seq) (n news) {
	s := m.s
	i := s.transmit.Len() - (m.acked + 1).Distance(s.sndNxt) // below 0 only where it has had the packet
	for ; m.acked != ack; i++ {
		m.acked++
		if m.beyond&1 == 0 {
			p := s.transmit.At(i)
			n = n.with(p)
			s.has(p)
		}
		m.beyond >>= 1
	}
	return n
}

// settle lets the backlog follow after so many packets were released.
func (s *BroadcastSender) settle(now time.Duration, released int) {
	if released > 0 {
		s.trim()
		s.acknowledgedNew(now)
	}
	s.Flush(now)
}

// measure learns from what a member has now how long it takes to answer; prompt says that
// it told as soon as the newest came.
func (m *Member) measure(now time.Duration, n news, prompt bool) {
	if n.released > 0 && n.once >= 0 {
		r := roundTrip{estimate: m.rtt}
		r.acknowledged(now, n.once, prompt && !n.late)
		m.rtt = r.estimate
		m.s.estimate = max(m.s.estimate, m.rtt)
	}
}
