// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// handleConnected takes a message for a socket that is not connectionless: f and data
// make it up, and it came from a node, which may be the own one. It may change f.
func (e *Engine) handleConnected(now time.Duration, n *node, port *Port, f *frame.PayloadFields, data []byte, in *netdev.Buffer) {
	f.Common = frame.Common{Prev: e.addr} // what its link said of it is over
	switch {
	case port.listener != nil:
		port.listener.handle(now, n, f, data)
	case port.conn != nil:
		port.conn.handle(now, n, f, data, in)
	default: // a group takes what is sent to members alone
		e.giveBack(now, n, f, data, frame.NoPort)
	}
}

// isPeer reports whether a message is the peer's: no message of a connection is passed
// on, so it has to come from the peer's node itself.
func (c *Conn) isPeer(n *node, port uint32, node frame.NodeAddr) bool {
	return (c.state == Established || c.lingers()) && n == c.node && port == c.peer.Port && node == c.peer.Node
}

// handle takes a payload message. Source: docs/spec/07-sockets.md §4.4.
func (c *Conn) handle(now time.Duration, n *node, f *frame.PayloadFields, data []byte, in *netdev.Buffer) {
	e := c.port.e
	switch {
	case c.state == Connecting:
		c.handleAnswer(now, n, f, data, in)
	case c.state == ConnClosed && !c.lingers() && n == c.node && f.OrigPort == c.peer.Port:
		e.drop(DropNoPort) // it is about to read the end that is owed: what came back would be another
	case c.late && c.state == Ended && n.addr == c.peer.Node && f.OrigPort == c.peer.Port && f.OrigNode == n.addr && f.Error == frame.OK && f.Type == frame.ConnMsg:
		c.receive(now, n, f, data, in)
	case !c.isPeer(n, f.OrigPort, f.OrigNode) || c.ReadEnded() && f.Error == frame.OK && len(data) > 0:
		e.giveBack(now, n, f, data, frame.NoPort)
	case c.state == ConnClosed:
		c.handleLate(now, n, f, data)
	case f.Error != frame.OK:
		e.arrived(n)
		if l := e.conns.joined; l != nil && c.user == nil && c.early == nil {
			c.overtaken(now, l, f.Error, data)
		} else {
			c.peerEnded(now, f.Error, data)
		}
	case f.Type == frame.ConnMsg:
		c.receive(now, n, f, data, in)
	default:
		e.giveBack(now, n, f, data, frame.NoPort)
	}
}

// receive takes data of the peer. Empty messages are never seen, and not counted. More
// than may wait ends the connection: the peer ignores the window.
// Source: docs/spec/07-sockets.md §4.4, §7.
func (c *Conn) receive(now time.Duration, n *node, f *frame.PayloadFields, data []byte, in *netdev.Buffer) {
	e, due, asked := c.port.e, false, f.SrcDroppable
	if c.user == nil && len(data) > 0 && c.port.queued+len(data)+recordCost > c.port.ReceiveLimit {
		c.port.stats.noRoom(!f.DestDroppable)
		e.giveBack(now, n, f, data, frame.Overload)
		c.late = false
		if c.state == Ended { // of what came late something is lost
			c.end.Why, c.end.Code = EndReset, frame.Overload
			return
		}
		c.finish(now, EndReset, frame.Overload)
		return
	}
	if a := c.port.Account; a != nil && len(data) > 0 && a.beyond(len(data)+recordCost) != nil && !c.port.relieve(now, len(data)+recordCost) {
		c.port.stats.noRoom(!f.DestDroppable)
		c.port.overdraw(now)
		return
	}
	e.arrived(n)
	switch {
	case len(data) == 0:
	case c.user != nil:
		due = c.hand(now, data)
	default:
		c.moveIn()
		r := c.port.store(data, in)
		r.Importance, r.srcDroppable = f.Importance, asked
		e.conns.tell(c, callReadable)
	}
	if (due || asked) && c.state == Established {
		c.acknowledge(now, asked)
	}
	if c.nagle.Active() {
		c.nagle.HandleData()
		c.pay(now, c.owed) // the end of what is written may come behind it
	}
}

// arrived counts a message that a socket has taken.
func (e *Engine) arrived(n *node) {
	if n == e.self {
		e.count.MessagesLocal++
	} else {
		e.count.MessagesIn++
	}
}

// hand gives a message to the user in the engine, and reports whether what it has read
// is to be acknowledged.
func (c *Conn) hand(now time.Duration, data []byte) (due bool) {
	size := frame.ShortLen + len(data)
	c.user.message(now, c, data)
	return c.state == Established && c.flow.Read(size)
}

// peerEnded ends the connection as the peer said; back is what came with it, see Returned. What
// comes of a peer that is gone is no other end.
func (c *Conn) peerEnded(now time.Duration, code frame.ErrorCode, back []byte) {
	if c.early != nil {
		return
	}
	c.keepReturned(back)
	c.late = c.user == nil && c.state == Established
	if code == frame.ConnShutdown {
		c.finish(now, EndShutdown, code)
	} else {
		c.finish(now, EndReset, code)
	}
}

// keepReturned keeps what came back with the peer's end, if there is room.
func (c *Conn) keepReturned(back []byte) {
	if a := c.port.Account; a != nil && a.beyond(min(len(back), frame.MaxReturned)) != nil {
		back = nil
	}
	c.keepBack(back)
}

// handleManager takes a message of the connection manager.
// Source: docs/spec/07-sockets.md §4.5.
func (c *Conn) handleManager(now time.Duration, n *node, f *frame.ConnFields) {
	e := c.port.e
	if !c.isPeer(n, f.OrigPort, f.Orig) {
		e.drop(DropConn)
		return
	}
	c.asked = false
	switch {
	case f.Error != frame.OK:
		c.peerEnded(now, f.Error, nil)
	case f.Type == frame.ConnProbe:
		c.pay(now, owedReply)
	case f.Type == frame.ConnWriteEnd:
		c.peerWriteEnded(n)
	case f.Type == frame.ConnAck:
		if f.NagleAck {
			c.nagle.HandleAnswer()
		}
		if !c.flow.HandleAck(f.Acked, f.Window) {
			e.count.OverAcks++
		}
		if c.nagle.Due() {
			c.pay(now, c.owed) // the end may come behind it
		}
		if c.stuck && c.flow.Open() && c.state == Established {
			c.stuck = false
			e.conns.tell(c, callWritable)
		}
	}
}

// Read takes the first waiting message and copies as much of its data as fits into b;
// size is its length, and what does not fit is lost. Of a stream it takes as much as b
// holds and there is; size is n. ok is false when nothing waits. It tells the peer that
// there is room, when that is due.
func (c *Conn) Read(now time.Duration, b []byte) (n, size int, ok bool) {
	if !c.Stream {
		n, r, ok := c.port.Read(b)
		if ok {
			c.moveOut(false)
			c.consumed(now, r.Len)
		}
		return n, r.Len, ok
	}
	for c.port.queue.Len() > 0 && (n < len(b) || !ok) {
		ok = true
		k, whole := c.readPart(b[n:])
		n += k
		if whole > 0 {
			c.consumed(now, whole)
		}
	}
	c.moveOut(false)
	return n, n, ok
}

// readPart takes what fits into b out of the first message, of which c.taken bytes are
// gone. When that was its end whole is its length, else 0.
func (c *Conn) readPart(b []byte) (n, whole int) {
	p := &c.port
	r := p.queue.At(0)
	if r.data == nil {
		n = p.data.pop(b, min(len(b), r.Len-c.taken))
	} else {
		n = copy(b, r.data[c.taken:])
	}
	c.taken += n
	p.queued -= n
	p.recount()
	if c.taken < r.Len {
		return n, 0
	}
	whole = r.Len
	if r.lent != nil {
		r.lent.Release()
	}
	p.queue.Drop()
	p.queued -= recordCost
	p.recount()
	c.taken = 0
	return n, whole
}

// skipPart drops the first message if a part of it was read.
func (c *Conn) skipPart() {
	if c.taken == 0 {
		return
	}
	p := &c.port
	r := p.queue.At(0)
	if r.data != nil {
		r.letGo()
	} else {
		p.data.pop(nil, r.Len-c.taken)
	}
	p.queued -= r.Len - c.taken + recordCost
	p.recount()
	p.queue.Drop()
	c.taken = 0
}

// consumed counts a message of n bytes that was read.
func (c *Conn) consumed(now time.Duration, n int) {
	if c.state == Established && c.flow.Read(frame.ShortLen+n) {
		c.acked = true
		c.acknowledge(now, false)
	}
}

// Due reports whether a Read may tell the peer that there is room, so that it has to
// know the time well.
func (c *Conn) Due() bool {
	return c.flow.Near(c.port.queue.Len() + c.port.queued/1024)
}

// Acknowledged reports whether the peer was told that there is room since that was asked
// last: there may be frames to send then, or connections of this node to wake.
func (c *Conn) Acknowledged() bool {
	was := c.acked
	c.acked = false
	return was
}
