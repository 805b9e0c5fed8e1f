// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// What Write has taken has one owner until it stands on the link, in order: the connection,
// which holds it for the peer's answer, the window, the link or a chunk. Close leaves that as
// it is, and puts the orderly end behind the last byte. When the rest cannot go, the end is
// that of Abort, which the peer reads as a reset, and the bytes are counted:
//
//	held ──(window, link, chunk)──► on the link ──(acknowledged)──► the peer's node has it
//	  └──(the peer ends, is silent, a limit)──┐     └──(contact lost)──┐
//	                                          └─────► Unsent ◄─────────┘
//
// Source: docs/spec/07-sockets.md §4.6.

// Limits of closed connections that still hold something. Such a connection stays as long
// as its peer lives; what goes beyond the limits is lost at Close. Those of a node keep a
// peer whose sockets do not read from using up all.
const (
	lingerProbe = 30 * time.Second // between two probes; the second in vain is the end

	maxLinger      = 4096     // connections
	maxLingerBytes = 64 << 20 // bytes that they hold
	maxNodeLinger  = 1024     // connections to one node
	maxNodeBytes   = 16 << 20 // bytes that those hold
)

// lingerers counts closed connections that still hold something.
type lingerers struct{ conns, bytes int }

func (l *lingerers) add(conns, bytes int) {
	l.conns += conns
	l.bytes += bytes
}

// mayLinger reports whether a connection that is about to be closed may keep what it holds.
func (c *Conn) mayLinger() bool {
	held, all, own := c.nagle.Held(), &c.port.e.conns.lingerers, &c.node.lingerers
	return all.conns < maxLinger && all.bytes+held <= maxLingerBytes &&
		own.conns < maxNodeLinger && own.bytes+held <= maxNodeBytes
}

// beginLinger counts a closed connection that still holds something, and has its peer
// probed.
func (c *Conn) beginLinger(now time.Duration) {
	c.lingering = c.nagle.Held()
	c.port.e.conns.lingerers.add(1, c.lingering)
	c.node.lingerers.add(1, c.lingering)
	c.asked = false
	c.port.e.alarms.set(&c.limit, now+lingerProbe)
}

// endLinger takes back what beginLinger has counted.
func (c *Conn) endLinger() {
	if c.lingering > 0 {
		c.port.e.conns.lingerers.add(-1, -c.lingering)
		c.node.lingerers.add(-1, -c.lingering)
		c.lingering = 0
	}
}

// probeLate asks the peer of a closed connection whether it is there still, or ends the
// connection when it did not answer the last time.
func (c *Conn) probeLate(now time.Duration) {
	if c.asked {
		c.end = ConnError{EndSilent, frame.OK, c.peer, 0}
		c.cutShort(now)
		return
	}
	c.asked = true // the answer may come within the call
	next := now + lingerProbe
	if !c.sendManager(now, frame.ConnFields{Type: frame.ConnProbe}) {
		c.asked = false
		next = now + owedPause
	}
	if c.lingers() {
		c.port.e.alarms.set(&c.limit, next)
	}
}

// cutShort ends a closed connection without what it still has to send: its end becomes a
// reset.
func (c *Conn) cutShort(now time.Duration) {
	c.loseHeld()
	c.endLinger()
	if c.owed&owedEnd != 0 {
		c.owed = c.owed&^owedEnd | owedReset
	}
	c.pay(now, c.owed)
}

// CutShort ends the closed connections that still have something to send, each with a reset.
// It is for a node that leaves.
func (e *Engine) CutShort(now time.Duration) {
	if e.self != nil {
		e.cutShort(now, e.self)
	}
	for _, n := range e.nodes {
		e.cutShort(now, n)
	}
}

func (e *Engine) cutShort(now time.Duration, n *node) {
	var closed []*Conn
	for c := n.conns; c != nil; c = c.behind {
		if c.state == ConnClosed {
			closed = append(closed, c)
		}
	}
	for _, c := range closed {
		if c.node == n { // the end of another has not ended it
			c.cutShort(now)
		}
	}
}

// Unsent is the number of bytes that Write has taken and that the peer will not read, of a
// connection that has ended or was closed: those that it held then, and where contact was
// lost those on the link, too, that the peer's node had not acknowledged with all before them. A
// few of the latter may have arrived. A message in several packets counts as a whole.
func (c *Conn) Unsent() int { return c.unsent }

// Gone reports whether nothing of the connection is left to do: of a closed one that it has
// sent all that it held, and its end, or has lost that.
func (c *Conn) Gone() bool { return c.state == Ended || c.state == ConnClosed && c.port.closed }

// WatchClose makes TakeReadyConns name the connection once it is Gone, though it was closed.
func (c *Conn) WatchClose() { c.watched = !c.Gone() }

// loseHeld counts what is held as lost, and lets go of it.
func (c *Conn) loseHeld() {
	c.lose(c.nagle.Held())
	c.forgetHeld()
}

// lose counts bytes that Write has taken as lost. Of a closed connection nobody else hears.
func (c *Conn) lose(bytes int) {
	c.unsent += bytes
	if c.state == ConnClosed {
		c.port.e.count.ClosedUnsent += uint64(bytes)
	}
}

// loseSent counts bytes as lost that have stood on the link.
func (c *Conn) loseSent(bytes int) {
	c.sentLost += uint64(bytes)
	c.lose(bytes)
}

// Placed is the number of bytes that were put on the link, or in the own node's peer, and that
// are not counted as lost: those of the request for the connection among them.
func (c *Conn) Placed() uint64 { return c.port.stats.BytesOut - min(c.sentLost, c.port.stats.BytesOut) }

// UnsentBytes is the number of bytes that the Write of a connection has taken and that no
// other node has acknowledged: those that are lost with connections that were closed, and
// those still under way.
func (e *Engine) UnsentBytes() (lost, underWay uint64) {
	for _, n := range e.nodes {
		for c := n.conns; c != nil; c = c.behind {
			underWay += uint64(c.nagle.Held())
		}
		e.unacked(n, func(_ uint32, bytes int) { underWay += uint64(bytes) })
	}
	return e.count.ClosedUnsent, underWay
}

// loseUnacked counts what of connections to a node is on its links, as lost.
func (e *Engine) loseUnacked(n *node) {
	for _, l := range n.links {
		if l != nil {
			e.loseUnackedOn(n, l)
		}
	}
}

// loseUnackedOn is loseUnacked of one link. What is for a connection that has ended meanwhile,
// its peer would not have read: the end has said so.
func (e *Engine) loseUnackedOn(n *node, l *link) {
	unackedOn(l, func(port uint32, bytes int) {
		p := e.ports[port]
		switch {
		case p == nil && slices.Contains(n.ended, port):
		case p == nil || p.conn == nil || p.conn.node != n && p.conn.state != Ended: // it was closed before
			e.count.ClosedUnsent += uint64(bytes)
		case p.conn.node == n:
			p.conn.loseSent(bytes)
		}
	})
}

// maxEnded is how many ports of a node are known of connections that had ended when they were closed.
const maxEnded = 256

// noteEnded notes for loseUnackedOn that a connection which is closed has ended before. Beyond
// maxEnded the oldest is forgotten, and what is under way of it would count as lost.
func (c *Conn) noteEnded() {
	n := c.port.e.peer(c.peer.Node)
	if n == nil {
		return
	}
	if !n.unsettled() {
		n.ended = n.ended[:0]
		return
	}
	if len(n.ended) == maxEnded {
		n.ended = slices.Delete(n.ended, 0, 1)
	}
	n.ended = append(n.ended, c.port.number)
}

// unsettled reports whether the node has not acknowledged all that was sent to it.
func (n *node) unsettled() bool {
	for _, l := range n.links {
		if l != nil {
			for range l.Unsettled {
				return true
			}
		}
	}
	return false
}

// unacked yields the data of connections that a node has not acknowledged: the port that sent
// it, and how many bytes.
func (e *Engine) unacked(n *node, yield func(port uint32, bytes int)) {
	for _, l := range n.links {
		if l != nil {
			unackedOn(l, yield)
		}
	}
}

// unackedOn is unacked of one link.
func unackedOn(l *link, yield func(port uint32, bytes int)) {
	var pieces flowctl.Pieces // of a packet of a failed link
	for b := range l.Unsettled {
		m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
		if err != nil {
			continue
		}
		if t, err := frame.ParseTunnel(m); err == nil && t.Type() == frame.TunnelFailover {
			if _, _, in := t.Piece(); in {
				if m, err = pieces.Add(t); err == nil && m.Bytes() != nil {
					connData(m, false, yield)
				}
				continue
			}
		}
		connData(m, true, yield)
	}
}

// connData yields the data of connections in a packet, or in what a packet carries; outer says
// that it is no message inside of another.
func connData(m frame.Message, outer bool, yield func(port uint32, bytes int)) {
	switch m.User() {
	case frame.UserBundler:
		b, err := frame.ParseBundle(m)
		if err != nil {
			return
		}
		for inner, err := range b.Messages() {
			if err == nil {
				connData(inner, false, yield)
			}
		}
	case frame.UserFragment:
		f, err := frame.ParseFragment(m)
		if err != nil || f.Type() != frame.FirstFragment {
			return
		}
		if m, whole, err := frame.ParseHead(f.Data()); err == nil {
			yieldConnData(m, whole, yield)
		}
	case frame.UserTunnel:
		t, err := frame.ParseTunnel(m)
		if err != nil || !outer || t.Type() != frame.TunnelFailover {
			return
		}
		if inner, err := t.Inner(); err == nil {
			connData(inner, false, yield)
		}
	default:
		yieldConnData(m, len(m.Bytes()), yield)
	}
}

// yieldConnData yields the data of a message of so many bytes, its header included, if a
// connection has sent it.
func yieldConnData(m frame.Message, whole int, yield func(port uint32, bytes int)) {
	p, err := frame.ParsePayload(m)
	if err != nil || p.Type() != frame.ConnMsg || p.Error() != frame.OK {
		return
	}
	if bytes := whole - m.HeaderLen(); bytes > 0 {
		yield(p.OrigPort(), bytes)
	}
}
