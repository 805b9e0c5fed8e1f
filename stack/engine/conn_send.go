// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Write sends one message, which is copied; an empty one is no message. Errors:
// ErrTooLong above frame.MaxPayload bytes; *MemoryError;
// ErrConnecting; *ConnError of a connection that has ended, ErrClosed of one that was
// closed here. Those that pass: *WindowFull, after which TakeReadyConns names the
// connection when there is room; ErrMemory and *Blocked, as of Port.Send. Of a stream
// without NoDelay short messages may be held for a while, to share packets: they are sent
// then, or lost with the connection, as those on their way.
func (c *Conn) Write(now time.Duration, b []byte) error { return c.writeOr(now, b, nil) }

// writeOr is Write of b, or else of the lent message m.
func (c *Conn) writeOr(now time.Duration, b []byte, m *Lent) error {
	size := sizeOf(b, m)
	switch {
	case c.state == Connecting:
		return ErrConnecting
	case c.state != Established:
		return c.Err()
	case c.half&writeEnded != 0:
		return ErrWriteEnded
	case size == 0:
		return nil
	case size > frame.MaxPayload:
		return &LengthError{size, frame.MaxPayload}
	case !c.flow.Open():
		return c.windowFull()
	case c.nagle.Active():
		return c.collect(now, b, m)
	}
	return c.write(now, b, m, false)
}

// windowFull says how the window stands; its owner hears when there is room.
func (c *Conn) windowFull() error {
	c.stuck = true
	c.full = WindowFull{c.peer, c.flow.Unacked(), c.flow.Window(), c.flow.CountsBlocks()}
	return &c.full
}

// write sends one message, b or m, and counts it; ask says whether the peer is to answer
// at once.
func (c *Conn) write(now time.Duration, b []byte, m *Lent, ask bool) error {
	e := c.port.e
	f := c.message(frame.OK)
	f.SrcDroppable = ask
	size := f.Len() + sizeOf(b, m)
	if c.node == e.self {
		if m != nil {
			b = e.joined(m)
		}
		c.flow.Sent(size)
		c.port.sent(e.self, len(b))
		e.loop(now, &f, b)
		return nil
	}
	if err := c.send(now, &f, b, m); err != nil {
		return err
	}
	c.flow.Sent(size)
	return nil
}

// send hands a message to the link; for a user in the engine it waits in line.
func (c *Conn) send(now time.Duration, f *frame.PayloadFields, b []byte, m *Lent) error {
	if c.user == nil {
		return c.port.sendOr(now, f, b, m)
	}
	e := c.port.e
	was := e.queues.as
	e.SendAs(&c.ticket)
	err := c.port.sendOr(now, f, b, m)
	e.SendAs(was)
	if c.ticket.serial != 0 && !connFull(err) {
		e.Quit(now, &c.ticket)
	}
	return err
}

// message is the header of a message to the peer.
func (c *Conn) message(code frame.ErrorCode) frame.PayloadFields {
	self := c.port.e.addr
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Importance: c.Importance, Type: frame.ConnMsg, Error: code,
		OrigPort: c.port.number, OrigNode: self, DestPort: c.peer.Port, DestNode: c.peer.Node,
	}
	if code != frame.OK {
		f.Importance = frame.Critical
	}
	return f
}

// owed is what a connection has to send and could not, for want of memory or because
// the link was full: without it the peer would wait for ever. It is tried again.
type owed uint8

const (
	owedAnswer   owed = 1 << iota // the empty message that accepts
	owedCredit                    // an acknowledgement
	owedNagle                     // and the peer waits for it
	owedReply                     // to a probe
	owedEnd                       // the last message, without data
	owedReset                     // the same, of Abort
	owedOverload                  // the same, of a connection that was ended here, see overdraw
	owedWriteEnd                  // that no data comes any more, behind all that is held, see CloseWrite
)

// acknowledge tells the peer what was read, which may have asked for it.
func (c *Conn) acknowledge(now time.Duration, asked bool) {
	if c.early != nil { // the peer is gone
		return
	}
	if asked {
		c.pay(now, owedCredit|owedNagle)
	} else {
		c.pay(now, owedCredit)
	}
}

// pay sends what is given of what the connection owes, or notes to try again.
func (c *Conn) pay(now time.Duration, what owed) {
	e := c.port.e
	c.owed |= what
	c.flush(now)
	if c.owed&owedAnswer != 0 && c.sendEmpty(now, frame.OK) {
		c.owed &^= owedAnswer
	}
	if c.owed&owedCredit != 0 && c.sendCredit(now, c.owed&owedNagle != 0) {
		c.owed &^= owedCredit | owedNagle
	}
	if c.owed&owedReply != 0 && c.sendManager(now, frame.ConnFields{Type: frame.ConnProbeReply}) {
		c.owed &^= owedReply
	}
	if c.mayEndWrite() && c.sendManager(now, frame.ConnFields{Type: frame.ConnWriteEnd}) {
		c.owed &^= owedWriteEnd
	}
	if c.owed&owedOverload != 0 && c.sendEmpty(now, frame.Overload) {
		c.owed &^= owedOverload
		if c.state == ConnClosed {
			c.release(now)
			return
		}
	}
	end := c.owed & (owedEnd | owedReset)
	if c.lingers() || c.owed&owedAnswer != 0 {
		end = 0 // behind what is held, and the answer
	}
	if end&owedEnd != 0 && c.sendEnd(now, frame.ConnShutdown) || end&owedReset != 0 && c.sendEnd(now, frame.NoPort) {
		c.release(now)
		return
	}
	if c.mayEndWrite() {
		end |= owedWriteEnd
	}
	if c.owed&^(owedEnd|owedReset|owedWriteEnd)|end != 0 && !c.again.isSet() {
		e.alarms.set(&c.again, now+owedPause)
	}
}

// sendEmpty sends a message without data: the first of an accepted connection, or its
// end. It reports false when that is to be tried again.
func (c *Conn) sendEmpty(now time.Duration, code frame.ErrorCode) bool {
	e, f := c.port.e, c.message(code)
	if f.DestNode == e.addr {
		e.loop(now, &f, nil)
		return true
	}
	err := e.post(now, f.DestNode, &f, nil, netdev.Control)
	return err == nil || Unreachable(err)
}

// sendCredit sends an acknowledgement of what was read.
func (c *Conn) sendCredit(now time.Duration, asked bool) bool {
	f := frame.ConnFields{Type: frame.ConnAck, NagleAck: asked}
	if a := c.port.Account; a != nil {
		c.port.promise(0)
		c.port.promise(c.flow.Offer(c.ReceiveLimit, a.spare()))
	}
	f.Acked, f.Window = c.flow.Credit()
	if c.sendManager(now, f) {
		return true
	}
	c.flow.Uncredited(f.Acked)
	return false
}

// sendManager sends the peer a message of the connection manager.
func (c *Conn) sendManager(now time.Duration, f frame.ConnFields) bool {
	e := c.port.e
	f.OrigPort, f.Orig, f.DestPort, f.Dest = c.port.number, e.addr, c.peer.Port, c.peer.Node
	return e.sendManager(now, &f)
}

// probe asks the peer whether it is there, or gives it up when it did not answer the
// last time.
func (c *Conn) probe(now time.Duration) {
	c.moveOut(true)
	if c.asked {
		c.finish(now, EndSilent, frame.OK)
		return
	}
	next := now + owedPause
	c.asked = true // the answer may come within the call
	if c.sendManager(now, frame.ConnFields{Type: frame.ConnProbe}) {
		next = now + probeInterval
	} else {
		c.asked = false
	}
	if c.state == Established {
		c.port.e.alarms.set(&c.limit, next)
	}
}

// Close ends the connection in order: the peer reads what was sent before, and then
// its end. What is held, see Held, goes as the peer makes room for it, for as long as the
// peer lives, and the end goes behind it: see Unsent for when that cannot be done. What
// waits here unread, or comes still, is lost, but for the beginning of the first message, which
// the peer gets back. Source: docs/spec/07-sockets.md §4.6.
func (c *Conn) Close(now time.Duration) { c.close(now, frame.ConnShutdown) }

// Abort is Close, but that the peer reads a reset at the end.
func (c *Conn) Abort(now time.Duration) { c.close(now, frame.NoPort) }

func (c *Conn) close(now time.Duration, code frame.ErrorCode) {
	if c.early != nil { // whatever comes still, nobody reads it
		c.endEarly(now)
	}
	if c.state == Established && !c.drain(now) {
		if n := c.node; c.mayLinger() {
			c.state = ConnClosed
			c.detach(now)
			c.linger(now, n, code)
			c.beginLinger(now)
			c.ackUnread(now)
			c.flush(now)
			return
		}
		c.loseHeld()
		code = frame.NoPort
	}
	was := c.state
	if was == ConnClosed {
		return
	}
	c.state = ConnClosed
	if was == Ended {
		c.noteEnded()
	}
	if c.owed&owedOverload != 0 {
		return // until that is paid
	}
	n, r, unanswered := c.node, c.request, c.owed&owedAnswer != 0
	c.detach(now)
	if was == Established && unanswered && !c.sendEmpty(now, frame.OK) { // else the end would be a refusal
		c.linger(now, n, code)
		c.owed |= owedAnswer
		return
	}
	if was == Established || was == Connecting && r.f.DestPort != 0 { // the request, if it waits there still
		if !c.sendEnd(now, code) {
			c.linger(now, n, code)
			return
		}
	}
	c.release(now)
}

// sendEnd sends the last message: the first that nobody has read, or one without data. It
// reports false when that is to be tried again.
func (c *Conn) sendEnd(now time.Duration, code frame.ErrorCode) bool {
	return c.returnUnread(now, code) || c.sendEmpty(now, code)
}

// linger keeps the number of a closed connection until its end is sent, behind all that
// is held.
func (c *Conn) linger(now time.Duration, n *node, code frame.ErrorCode) {
	if n != nil { // so that it goes with the node
		n.open++
		c.node, c.behind = n, n.conns
		if n.conns != nil {
			n.conns.before = c
		}
		n.conns = c
	}
	c.owed = owedEnd
	if code == frame.NoPort {
		c.owed = owedReset
	}
	c.port.e.alarms.set(&c.again, now+owedPause)
}

// returnUnread makes the first message that nobody has read the last one: with the
// beginning of its data it goes back. It reports false when there is none, or no memory
// for it.
func (c *Conn) returnUnread(now time.Duration, code frame.ErrorCode) bool {
	c.skipPart()
	var data [frame.MaxReturned]byte
	k, r, ok := copy(data[:], c.goesBack()), Received{Importance: c.Importance}, c.back != nil
	if !ok {
		k, r, ok = c.port.Read(data[:])
	}
	if !ok {
		return false
	}
	e, f := c.port.e, c.message(code)
	f.Importance, f.Long, f.SrcDroppable = r.Importance, true, r.srcDroppable
	if f.DestNode == e.addr {
		e.loop(now, &f, data[:k])
		return true
	}
	return e.post(now, f.DestNode, &f, data[:k], netdev.Control) == nil
}
