// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// Buffers yields every Buffer of the arena that the engine holds, once for each hold. It is for
// simulations and tests that account for chunks.
func (e *Engine) Buffers(yield func(*netdev.Buffer) bool) {
	more := true
	each := func(b *netdev.Buffer) bool {
		more = yield(b)
		return more
	}
	for _, b := range e.bearers {
		for i := range b.out.Len() {
			if !each(b.out.At(i).f) {
				return
			}
		}
	}
	if e.cast.link != nil {
		e.cast.Buffers(each)
	}
	for _, n := range e.nodes {
		for _, l := range n.links {
			if l != nil && more {
				l.Buffers(each)
			}
			if l != nil && l.failoverReceiver != nil && more {
				l.failoverReceiver.Buffers(each)
			}
		}
		if more {
			n.bcast.Buffers(each)
		}
		if !more {
			return
		}
	}
	for _, p := range e.ports { // in any order: they are only counted
		for i := range p.queue.Len() {
			if b := p.queue.At(i).lent; b != nil && b.Of(e.cfg.Arena) && !each(b) {
				return
			}
		}
	}
}

// A Neighbour is another node as this one sees it.
type Neighbour struct {
	Node    frame.NodeAddr
	Contact Contact
	Links   [MaxBearers]*flowctl.Link // by bearer, to look at only; nil until a station was accepted
}

// Link returns the first link, or nil.
func (n Neighbour) Link() *flowctl.Link {
	for _, l := range n.Links {
		if l != nil {
			return l
		}
	}
	return nil
}

// Neighbours yields every other node known, by address.
func (e *Engine) Neighbours(yield func(Neighbour) bool) {
	for _, n := range e.nodes {
		x := Neighbour{Node: n.addr, Contact: n.contact}
		for i, l := range n.links {
			if l != nil {
				x.Links[i] = l.Link
			}
		}
		if !yield(x) {
			return
		}
	}
}

// Bindings yields the whole binding table, as naming.Table.All does.
func (e *Engine) Bindings(yield func(naming.Binding) bool) {
	if e.table == nil {
		return
	}
	for b := range e.table.All() {
		if !yield(b) {
			return
		}
	}
}

// NextBindings calls f with the next part of the binding table: it looks at up to n bindings and
// ranges. The table may change between two parts.
func (e *Engine) NextBindings(c *naming.Cursor, n int, f func(naming.Binding)) {
	t := e.table
	if t == nil {
		t = naming.NewTable(0)
	}
	e.did(WorkBindings, c.Next(t, n, f))
}

// Ports is the number of sockets open, but for the node's own, of its topology service.
func (e *Engine) Ports() int {
	if e.addr == 0 {
		return 0
	}
	return len(e.ports) - 1
}

// Queued is the number of bytes that count against the receive limit.
func (p *Port) Queued() int { return p.queued }

// Waiting yields the messages that wait in the port, without the first skip, and
// their data, which is only valid during the call.
func (p *Port) Waiting(skip int, yield func(r Received, data []byte) bool) {
	at := p.data.n
	for i := p.queue.Len() - 1; i >= skip; i-- {
		if r := p.queue.At(i); r.data == nil {
			at -= r.Len
		}
	}
	for i := max(skip, 0); i < p.queue.Len(); i++ {
		r := *p.queue.At(i)
		d := r.data
		if r.data == nil {
			d = make([]byte, r.Len)
			for j := range d {
				d[j] = p.data.buf[(p.data.head+at+j)&(len(p.data.buf)-1)]
			}
			at += r.Len
		}
		if !yield(r, d) {
			return
		}
	}
}

// Forge enters a binding in this node's table, or takes it out, of which nobody else
// hears: for tests of those who look for tables that are wrong.
func (e *Engine) Forge(b naming.Binding, withdrawn bool) {
	if withdrawn {
		e.table.Remove(b)
	} else {
		e.table.Insert(b)
	}
}

// Queued is the number of bytes that count against the receive limit, and that limit.
func (c *Conn) Queued() (n, limit int) { return c.port.queued, c.port.ReceiveLimit }

// Alarms is how many sockets and subscriptions wait for a time.
func (e *Engine) Alarms() int { return len(e.alarms.heap) }
