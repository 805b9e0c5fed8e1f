// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// Limits of a receiver.
const (
	ackEvery = 16 // packets delivered after which an acknowledgement is due

	// ackWeight is the bytes that make a packet count for one more, so that a sender
	// of large ones can use a few chunks again and again, and finds them in its cache.
	ackWeight = 16 << 10

	// maxLent is the number of deferred packets a peer may keep in the arena's
	// chunks, while more than half of those are free; what comes beyond is copied
	// out. Else a few peers would keep all chunks, and the packets that all the
	// others wait for could not be received any more.
	maxLent = 64
	// MaxDeferredBytes is the memory deferred packets of one peer may take.
	MaxDeferredBytes = 16 << 20
)

// A receiver is the receiving half of a Link: what is in order goes on, what
// came early is deferred, what came before is dropped.
type receiver struct {
	rcvNxt      frame.Seq // the packet expected
	rcvNxtState frame.Seq
	rcvUnacked  int // packets delivered since the last acknowledgement, large ones weighed
	deferral
}

func (r *receiver) clear() {
	r.rcvNxt, r.rcvNxtState, r.rcvUnacked = 1, 1, 0
	r.deferral.clear()
}

// A Packet is a received packet that has its turn: its message, and the Buffer
// that holds it, or nil where it was copied out.
type Packet struct {
	Message frame.Message
	buf     *frame.Buffer
}

// Buffer is what holds the packet, or nil where it was copied out. Whoever keeps it
// takes a hold of his own.
func (p Packet) Buffer() *frame.Buffer { return p.buf }

// Release gives the packet's memory back; the message is void then.
func (p Packet) Release() {
	if p.buf != nil {
		p.buf.Release()
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
func (l *Link) HandlePacket(now time.Duration, m frame.Message, b *frame.Buffer) Verdict {
	if l.blocked() {
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
	l.handleAck(now, m.Ack(), 0)
	if m.Seq() == l.rcvNxt {
		l.advance(now, m)
		return Deliver
	}
	switch l.add(m, b) {
	case deferredNow:
		l.Counters.Deferred++
		if n := len(l.deferred); n >= 3 && (n-3)%ackEvery == 0 {
			l.sendState(now, stateOptions{gap: l.rcvNxt.Distance(l.deferred[0].seq)})
		}
		return Deferred
	case deferredTwice:
		l.Duplicates++
	case deferredNot:
		l.NoChunk++
	}
	return Dropped
}

// Deferring reports whether packets that came early wait for their turn.
func (l *Link) Deferring() bool { return len(l.deferred) > 0 }

// Next returns the next deferred packet that has its turn. The caller delivers
// it and releases it.
func (l *Link) Next(now time.Duration) (Packet, bool) {
	if !l.IsUp() {
		return Packet{}, false
	}
	p, ok := l.take(l.rcvNxt)
	if ok {
		l.advance(now, p.Message)
	}
	return p, ok
}

func (l *Link) advance(now time.Duration, m frame.Message) {
	l.rcvNxt++
	if l.rcvUnacked += 1 + len(m.Bytes())/ackWeight; l.rcvUnacked >= ackEvery {
		l.SentAcks++
		l.sendState(now, stateOptions{})
	}
}

// A deferral keeps packets that came before their turn, in order.
type deferral struct {
	deferred []early
	bytes    int
}

type early struct {
	seq frame.Seq
	Packet
}

type deferResult uint8

const (
	deferredNow   deferResult = iota
	deferredTwice             // the packet was there already
	deferredNot               // for want of memory
)

// add keeps a packet: in its Buffer, of which it takes a hold, or copied out
// when there are many, or few chunks.
func (d *deferral) add(m frame.Message, b *frame.Buffer) deferResult {
	i := len(d.deferred)
	for i > 0 && m.Seq().Before(d.deferred[i-1].seq) {
		i--
	}
	if i > 0 && d.deferred[i-1].seq == m.Seq() {
		return deferredTwice
	}
	p := Packet{Message: m, buf: b}
	n := len(m.Bytes())
	switch {
	case d.bytes+n > MaxDeferredBytes:
		return deferredNot
	case len(d.deferred) >= maxLent || !b.MayKeep():
		p.Message, _ = frame.Parse(slices.Clone(m.Bytes()))
		p.buf = nil
	default:
		b.Hold()
	}
	d.bytes += n
	d.deferred = slices.Insert(d.deferred, i, early{m.Seq(), p})
	return deferredNow
}

// take removes the packet with number seq if it is there.
func (d *deferral) take(seq frame.Seq) (Packet, bool) {
	for len(d.deferred) > 0 && d.deferred[0].seq.Before(seq) {
		d.drop()
	}
	if len(d.deferred) == 0 || d.deferred[0].seq != seq {
		return Packet{}, false
	}
	p := d.deferred[0].Packet
	d.bytes -= len(p.Message.Bytes())
	d.deferred = slices.Delete(d.deferred, 0, 1)
	return p, true
}

func (d *deferral) drop() {
	d.bytes -= len(d.deferred[0].Message.Bytes())
	d.deferred[0].Release()
	d.deferred = slices.Delete(d.deferred, 0, 1)
}

func (d *deferral) clear() {
	for len(d.deferred) > 0 {
		d.drop()
	}
}
