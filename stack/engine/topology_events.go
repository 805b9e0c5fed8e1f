// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A notice is an event that waits, in few bytes: a slow client has thousands.
type notice struct {
	of           *remote
	lower, upper uint32
	port         uint32
	node         frame.NodeAddr
	typ          uint8
	news         bool // counts against the limit
}

// told is called when a binding came or went.
func (x *remote) told(ev naming.Event) {
	if x.listing != nil && !x.listing.Reached(ev) {
		return
	}
	typ := frame.Published
	if ev.Withdrawn {
		typ = frame.Withdrawn
	}
	n := x.notice(typ, ev.Binding)
	n.news = true
	x.c.note(n)
	x.c.soil()
}

// timedOut is called when the subscription's time is over. Kernels tell a subscriber of
// the other byte order its own bounds swapped once too often; here they are right.
// Source: docs/spec/06-topology.md §3.
func (x *remote) timedOut() {
	if x.listing != nil {
		x.overdue = true
		return
	}
	x.c.drop(x)
	n := x.notice(frame.TimedOut, naming.Binding{Range: x.Range})
	n.news = true
	x.c.note(n)
	x.c.soil()
}

func (x *remote) notice(typ frame.EventType, b naming.Binding) notice {
	return notice{of: x, typ: uint8(typ), lower: b.Range.Lower, upper: b.Range.Upper, port: b.Socket.Port, node: b.Socket.Node}
}

// note has an event wait for the connection, and cuts off who has too many waiting.
func (c *client) note(n notice) {
	if c.end {
		return
	}
	c.events.Push(n)
	c.t.waiting++
	if n.news {
		c.news++
	}
	switch {
	case c.news > clientEvents:
		c.cut()
	case c.t.waiting > allEvents:
		c.t.slowest().cut()
	}
}

// slowest is the client with the most events waiting, of several the oldest.
func (t *topology) slowest() (s *client) {
	for _, c := range t.clients {
		if s == nil || c.events.Len() > s.events.Len() || c.events.Len() == s.events.Len() && c.serial < s.serial {
			s = c
		}
	}
	return s
}

// cut ends the connection of a client that reads too slowly.
func (c *client) cut() {
	c.t.e.count.SubscribersCut++
	c.clear()
	c.soil()
}

// write sends events as long as the connection has room, and the turn may do more.
func (c *client) write(now time.Duration) {
	for c.events.Len() > 0 && !c.full && c.t.e.mayDo(3) {
		c.t.e.did(WorkSubscribers, 1)
		n := *c.events.At(0)
		err := c.conn.Write(now, c.t.event(n))
		switch {
		case c.gone:
			return
		case connFull(err):
			c.full = true
		case err != nil:
			c.t.forget(c)
			c.conn.Abort(now)
		default:
			c.events.Drop()
			c.t.waiting--
			if n.news {
				c.news--
			}
		}
	}
	c.events.Forget(64)
}

// event writes a notice as it goes out, in the order of the subscription's record. It
// is valid until the next call.
func (t *topology) event(n notice) []byte {
	s, _ := frame.ParseSubscription(n.of.record[:], t.native)
	f := frame.TopologyEventFields{
		Type: frame.EventType(n.typ), Lower: n.lower, Upper: n.upper, Port: n.port, Node: n.node, Subscription: s.Fields(),
	}
	return f.Append(t.buf[:0])
}
