// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
)

// Limits of a sender. Source: docs/spec/02-link.md §1.3.
const (
	MaxWindow     = 8191 // packets a receiver accepts ahead of what it expects
	DefaultWindow = 50   // the kernel's minimum

	holdOff          = time.Millisecond // between two transmissions of one packet
	failureTolerance = 10               // tolerances after which repeating has failed
)

// ErrCongested means the backlog of the message's importance is full. The
// message was not taken; event Room tells when to try again.
var ErrCongested = errors.New("flowctl: link congested")

// ErrTooLong means the message does not fit into a packet of the link.
var ErrTooLong = errors.New("flowctl: message larger than the link's packets")

// A sender is the sending half of a Link.
//
//	Send ──► backlog, by importance limited ──► transmit ──► released by acks
//	                                 window ───────┘ ▲ └─► out
//	                                                 └──── gaps
type sender struct {
	sndNxt      frame.Seq // the next packet's number
	sndNxtState frame.Seq
	transmit    Queue[sent]
	flight      int // bytes in it
	backlog     Queue[waiting]
	waiting     [frame.System + 1]int  // packets in the backlog by importance
	turnedAway  [frame.System + 1]bool // somebody was, since the last Room
	bundler
}

type sent struct {
	b           *frame.Buffer
	again       time.Duration // not before then
	first       time.Duration // when it was first repeated
	retransmits int
}

type waiting struct {
	b   *frame.Buffer
	imp frame.Importance
}

func (s *sender) clear() {
	for s.transmit.Len() > 0 {
		s.transmit.Pop().b.Release()
	}
	for s.backlog.Len() > 0 {
		s.backlog.Pop().b.Release()
	}
	s.waiting = [frame.System + 1]int{}
	s.turnedAway = [frame.System + 1]bool{}
	s.bundler = bundler{}
	s.sndNxt, s.sndNxtState = 1, 1
	s.flight = 0
}

// Limit is the number of packets of an importance that may wait for the window.
// System has room for all names of a node besides: the kernel checks its limit of
// 65535/(mtu/20) once for the whole bulk, here every packet is counted.
// Source: docs/spec/02-link.md §6.1; docs/spec/05-naming.md §3.
func (l *Link) Limit(imp frame.Importance) int {
	limit := l.cfg.Window * 2 * (int(imp) + 1)
	if imp == frame.System {
		limit += 65535 / max(1, (l.mtu-2*frame.IntLen)/frame.NameItemLen)
	}
	return limit
}

// Backlog is the number of packets that wait for the window, all importances.
func (l *Link) Backlog() int { return l.backlog.Len() }

// Unacked is the number of packets sent and not acknowledged.
func (l *Link) Unacked() int { return l.transmit.Len() }

// Idle reports whether everything sent was acknowledged.
func (l *Link) Idle() bool { return l.transmit.Len() == 0 && l.backlog.Len() == 0 }

// Window is the number of packets that may be sent and not acknowledged.
func (l *Link) Window() int { return l.cfg.Window }

// The window is one of packets of up to windowUnit bytes: of larger ones fewer are
// under way, so that both ends find the memory they use in their caches, but
// windowLeast, as a kernel acknowledges every sixteenth.
const (
	windowUnit  = 4 << 10
	windowLeast = 20
)

// Open reports whether the next packet may be sent now.
func (l *Link) Open() bool {
	n := l.transmit.Len()
	return n < l.cfg.Window && (n < windowLeast || l.flight < l.cfg.Window*windowUnit)
}

// Congested reports whether Send would turn a message of this importance away.
func (l *Link) Congested(imp frame.Importance) bool { return l.waiting[imp] >= l.Limit(imp) }

// Send queues one message: b holds room for the Ethernet header and then the
// whole message, complete but for its sequence number and acknowledgements. Where
// the window is full it may share a packet that waits. With a nil error the link
// has taken over the caller's hold, otherwise nothing happened. Errors:
// ErrCongested, ErrTooLong.
func (l *Link) Send(now time.Duration, b *frame.Buffer, imp frame.Importance) error {
	if err := l.admit(b, imp); err != nil {
		return err
	}
	if l.backlog.Len() == 0 && l.Open() {
		copy(b.Bytes(), l.cfg.Header[:])
		l.launch(now, b)
		return nil
	}
	l.wait(b, imp)
	l.Flush(now) // what was held goes with it
	return nil
}

// Hold is Send for a message that waits in any case, for more to share its packet,
// until Flush.
func (l *Link) Hold(b *frame.Buffer, imp frame.Importance) error {
	if err := l.admit(b, imp); err != nil {
		return err
	}
	l.wait(b, imp)
	return nil
}

// admit reports why a message may not be sent now.
func (l *Link) admit(b *frame.Buffer, imp frame.Importance) error {
	if b.Len()-frame.EthernetLen > l.mtu {
		return ErrTooLong
	}
	if !l.Congested(imp) {
		return nil
	}
	l.Counters.Congested++
	l.turnedAway[imp] = true
	if imp == frame.System {
		l.events |= Stuck
	}
	return ErrCongested
}

// wait puts a message into the last packet that waits, or behind it.
func (l *Link) wait(b *frame.Buffer, imp frame.Importance) {
	msg := b.Bytes()[frame.EthernetLen:]
	if bundleable(frame.UserOf(msg)) {
		if room := l.Room(len(msg), imp); room != nil {
			copy(room, msg)
			b.Release()
			return
		}
	}
	copy(b.Bytes(), l.cfg.Header[:])
	l.backlog.Push(waiting{b, imp})
	l.waiting[imp]++
	if !l.cfg.Alone {
		l.enter(b, imp)
	}
}

// Flush sends what waits, as far as the window allows, and tells who was turned
// away before.
func (l *Link) Flush(now time.Duration) { l.flush(now, 0) }

// FlushFull is Flush but for the last packet, which more may still share.
func (l *Link) FlushFull(now time.Duration) { l.flush(now, 1) }

func (l *Link) flush(now time.Duration, keep int) {
	for l.backlog.Len() > keep && l.Open() {
		w := l.backlog.Pop()
		l.waiting[w.imp]--
		l.leave(w.b, w.imp)
		l.launch(now, w.b)
	}
	for imp := range l.turnedAway {
		if l.turnedAway[imp] && !l.Congested(frame.Importance(imp)) {
			l.turnedAway[imp] = false
			l.events |= Room
		}
	}
}

// launch gives a packet its number and sends it for the first time.
func (l *Link) launch(now time.Duration, b *frame.Buffer) {
	msg := b.Bytes()[frame.EthernetLen:]
	frame.StampSeq(msg, l.sndNxt)
	frame.StampAcks(msg, l.rcvNxt-1, l.cfg.Broadcast.Ack())
	l.sndNxt++
	l.transmit.Push(sent{b: b, again: now + holdOff})
	l.flight += b.Len()
	b.Hold()
	l.out.Push(b)
	l.rcvUnacked = 0
	l.SentPackets++
}

// handleAck releases what the peer has, repeats what it misses, and lets the
// backlog follow. gap packets are missing behind ack. An acknowledgement of what
// was never sent is ignored. The link fails when its oldest packet was repeated
// for too long.
// Source: docs/spec/02-link.md §6.3.
func (l *Link) handleAck(now time.Duration, ack frame.Seq, gap int) {
	oldest := l.sndNxt - frame.Seq(l.transmit.Len())
	switch {
	case !ack.Before(l.sndNxt):
		l.BadAcks++ // nothing was sent under that number yet
		return
	case ack.Before(oldest - 1):
		return // an old report, overtaken
	}
	for range oldest.Distance(ack + 1) {
		b := l.transmit.Pop().b
		l.flight -= b.Len()
		b.Recycle()
	}
	if l.transmit.Len() > 0 && gap > 0 {
		if p := l.transmit.At(0); p.retransmits > 0 && now-p.first > failureTolerance*l.sup.tolerance {
			l.fail(Unacknowledged)
			return
		}
	}
	for i := range min(gap, l.transmit.Len()) {
		l.repeat(now, l.transmit.At(i))
	}
	l.Flush(now)
}

// overdue reports whether the oldest packet has been under way for so long that it
// will never be acknowledged. The peer may be missing one that is no longer here to
// be repeated, after an acknowledgement that was not the peer's; without this the
// link would stay up and stand still.
func (l *Link) overdue(now time.Duration) bool {
	if l.transmit.Len() == 0 {
		return false
	}
	p := l.transmit.At(0)
	since := p.again
	if p.retransmits > 0 {
		since = p.first
	}
	return now-since > failureTolerance*l.sup.tolerance
}

// repeat sends a packet again unless that was done a moment ago. Its number and
// content stay, the acknowledgements are today's; while a device still holds the
// Buffer a copy goes out instead.
func (l *Link) repeat(now time.Duration, p *sent) {
	if now < p.again {
		return
	}
	b := p.b
	if b.Lent() {
		c := l.cfg.Arena.Get(b.Len(), frame.Control)
		if c == nil {
			l.NoChunk++
			return
		}
		copy(c.Extend(b.Len()), b.Bytes())
		b = c
	} else {
		b.Hold()
	}
	frame.StampAcks(b.Bytes()[frame.EthernetLen:], l.rcvNxt-1, l.cfg.Broadcast.Ack())
	l.out.Push(b)
	p.again = now + holdOff
	if p.retransmits == 0 {
		p.first = now
	}
	p.retransmits++
	l.Retransmits++
}
