// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Limits of a receiver.
const (
	ackEvery = 16  // packets delivered after which an acknowledgement is due
	ackBatch = 256 // and after which it waits for no more of its batch, see AckBatches

	// ackWeight is the bytes that make a packet count for one more, so that a sender
	// of large ones can use a few chunks again and again, and finds them in its cache.
	ackWeight = 16 << 10
)

// A receiver is the receiving half of a Link: what is in order goes on, what
// came early is deferred, what came before is dropped.
type receiver struct {
	rcvNxt      frame.Seq // the packet expected
	rcvNxtState frame.Seq
	rcvUnacked  int16 // packets delivered since the last acknowledgement, large ones weighed
	ackBatches  bool  // see AckBatches
	deferral
}

func (r *receiver) clear(first frame.Seq) {
	r.rcvNxt, r.rcvNxtState, r.rcvUnacked = first, 1, 0
	r.deferral.clear()
}

// A Packet is a received packet that has its turn: its message, and the Buffer
// that holds it, or nil where it was copied out.
type Packet struct {
	Message frame.Message
	buf     *netdev.Buffer
}

// Buffer is what holds the packet, or nil where it was copied out. Whoever keeps it
// takes a hold of his own.
func (p Packet) Buffer() *netdev.Buffer { return p.buf }

// Release gives the packet's memory back; the message is void then.
func (p Packet) Release() {
	if p.buf != nil {
		p.buf.Release()
	}
}

// Recycle is Release for the side that turns the engine.
func (p Packet) Recycle() {
	if p.buf != nil {
		p.buf.Recycle()
	}
}

// A Verdict is what becomes of a received packet.
type Verdict uint8

const (
	Dropped  Verdict = iota // it came before, is out of bounds, or the link is not up
	Deferred                // it is kept until its turn
	Deliver                 // it has its turn: the caller delivers it, and then what Next has
)

// HandlePacket takes a packet that is not of the link protocol. The caller keeps
// its hold of b. Source: docs/spec/02-link.md §8.
func (l *Link) HandlePacket(now time.Duration, m frame.Message, b *netdev.Buffer) Verdict {
	if l.blocked() {
		return Dropped
	}
	if l.IsUp() && !l.MayAck(m.Ack()) { // of another session, or of somebody else
		l.BadAcks++
		return Dropped
	}
	l.RecvPackets++
	l.sup.HandlePacket()
	if !l.IsUp() {
		if l.state == Establishing && l.inSession {
			l.events |= WantUp // the packet will come again
		}
		return Dropped
	}
	if m.Seq().Before(l.rcvNxt) || l.rcvNxt.Distance(m.Seq()) > MaxWindow {
		l.Duplicates++
		return Dropped
	}
	l.acknowledge(now, m.Ack(), 0, frame.GapBlocks{})
	if m.Seq() == l.rcvNxt {
		l.advance(now, m)
		l.followUp(now)
		return Deliver
	}
	v := l.early(now, m, b)
	l.Flush(now)
	return v
}

// MayAck reports whether a packet of the peer may acknowledge that: not what was never sent.
func (l *Link) MayAck(ack frame.Seq) bool { return ack.Before(l.sndNxt) }

// early takes a packet that came before its turn.
func (l *Link) early(now time.Duration, m frame.Message, b *netdev.Buffer) Verdict {
	switch l.add(m, b, l.cfg.Pool) {
	case deferredNow:
		l.Counters.Deferred++
		if len(l.deferred()) == 1 {
			l.deferredMoved(now)
		}
		l.reportEarly(now)
		return Deferred
	case deferredTwice:
		l.Duplicates++
		if l.cfg.AsKernel { // a kernel looks again (capture 17, frame 80)
			l.reportEarly(now)
		}
	case deferredNot:
		l.NoChunk++
	}
	return Dropped
}

// reportEarly reports what is missing when the third packet is deferred, and every
// sixteenth after that. Source: docs/spec/02-link.md §4.2.
func (l *Link) reportEarly(now time.Duration) {
	if n := len(l.deferred()); n >= 3 && (n-3)%ackEvery == 0 {
		l.sendState(now, stateOptions{gap: l.missing()})
	}
}

// Deferring reports whether packets that came early wait for their turn.
func (l *Link) Deferring() bool { return len(l.deferred()) > 0 }

// missing is the number of packets between those that had their turn and the first
// deferred one.
func (l *Link) missing() int {
	if len(l.deferred()) == 0 {
		return 0
	}
	return l.rcvNxt.Distance(l.deferred()[0].seq)
}

// Next returns the next deferred packet that has its turn. The caller delivers
// it and releases it.
func (l *Link) Next(now time.Duration) (Packet, bool) {
	if !l.IsUp() {
		return Packet{}, false
	}
	p, ok := l.take(l.rcvNxt)
	if ok {
		l.advance(now, p.Message)
		l.followUp(now)
	}
	return p, ok
}

// followUp lets the backlog follow what a packet acknowledged, once no deferred packet
// has its turn: so it carries the newest acknowledgement (capture 18, frame 333).
func (l *Link) followUp(now time.Duration) {
	if len(l.deferred()) == 0 || l.packets[0].seq != l.rcvNxt {
		l.Flush(now)
	}
}

func (l *Link) advance(now time.Duration, m frame.Message) {
	l.rcvNxt++
	if l.reports > 0 {
		l.answerMissing(now)
	}
	if len(l.deferred()) > 0 {
		l.deferredMoved(now)
	}
	l.rcvUnacked += 1 + int16(len(m.Bytes())/ackWeight)
	switch {
	case l.rcvUnacked < ackEvery:
	case l.ackBatches && l.rcvUnacked < ackBatch:
		l.lookBy(now)
	default:
		l.sendAck(now)
	}
}

func (l *Link) sendAck(now time.Duration) {
	l.SentAcks++
	l.sendState(now, stateOptions{})
}

// AckBatches makes an acknowledgement that is due wait for HandleTimeout, which is due at
// once then: an owner that hands in all packets that have come before it calls that sends
// one for all of them. Without it there is one for every sixteenth packet, as from a kernel.
func (l *Link) AckBatches(on bool) { l.ackBatches = on }
