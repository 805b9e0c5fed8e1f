// SPDX-License-Identifier: Apache-2.0

package naming

import "github.com/utipc/utipc/frame"

// A Choice is a socket that has the turn among those bound to a service.
type Choice struct {
	socket frame.SocketAddr
	bound  *bound // nil: nobody takes turns
	own    bool   // the turn is among the own node's
}

// Socket is the chosen socket.
func (c Choice) Socket() frame.SocketAddr { return c.socket }

// Take gives the turn to the next. Without it the next choice is the same, as long
// as the table is.
func (c Choice) Take() {
	switch b := c.bound; {
	case b == nil:
	case c.own:
		b.own.advance()
	default:
		b.all.advance()
		b.turned()
	}
}

// choose gives the choice among those bound to b.
func (b *bound) choose(own bool) Choice {
	if own {
		return Choice{b.own.head.socket(), b, true}
	}
	return Choice{frame.SocketAddr{Port: b.port, Node: b.turn}, b, false}
}

// Anycast is Choose and Take in one.
func (t *Table) Anycast(a frame.Service) (frame.SocketAddr, bool) {
	c, ok := t.Choose(a)
	if ok {
		c.Take()
	}
	return c.socket, ok
}

// Choose picks a socket bound to the service: of the first range that has the
// instance in it, by lower bound and of equal ones the newest, whoever has the turn.
// With a lookup node that is the own node only own sockets count. With another lookup
// node the answer is port 0 there: that node will look up itself.
// Source: docs/spec/05-naming.md §5.1.
func (t *Table) Choose(a frame.Service) (Choice, bool) {
	c, ok := t.choose(a)
	for k := 0; ok && t.Condemned() && k < mostSpared && t.spare(c, a); k++ {
		c, ok = t.choose(a)
	}
	return c, ok
}

// mostSpared is the number of condemned bindings that a lookup passes over.
const mostSpared = 1024

// choose is Choose among all bindings, condemned ones too.
func (t *Table) choose(a frame.Service) (Choice, bool) {
	if a.Node != 0 && a.Node != t.self {
		return Choice{socket: frame.SocketAddr{Node: a.Node}}, true
	}
	own := a.Node != 0
	if !own && t.wide[a.Type] == 0 {
		h, ok := t.ranges[a.Range()] // no other range can have the instance in it
		switch {
		case !ok:
			return Choice{}, false
		case h.node != 0:
			return Choice{socket: frame.SocketAddr{Port: h.port, Node: h.node}}, true
		}
		return h.bound.choose(own), true
	}
	s := t.services[a.Type]
	if s == nil {
		return Choice{}, false
	}
	set := &s.all
	if own {
		i, ok := s.find(t.self)
		if !ok {
			return Choice{}, false
		}
		set = &s.shares[i].ranges
	}
	b := set.first(a.Instance)
	if b == nil || b.r.Lower > a.Instance {
		return Choice{}, false
	}
	return b.choose(own), true
}

// A Memo is what a sender's last lookup found, so that the next one to the same
// service costs no search as long as the table is the same. The zero value is empty.
type Memo struct {
	a       frame.Service
	version uint64
	found   bool
	choice  Choice
}

// Service is what was looked up last.
func (m *Memo) Service() frame.Service { return m.a }

// Recall is Choose with a memory of the last lookup.
func (t *Table) Recall(m *Memo, a frame.Service) (Choice, bool) {
	if m.found && m.version == t.version && m.a == a && !t.Condemned() {
		if b := m.choice.bound; b != nil {
			return b.choose(m.choice.own), true
		}
		return m.choice, true
	}
	c, ok := t.Choose(a)
	*m = Memo{a, t.version, ok, c}
	return c, ok
}

// Sockets yields those bound to what was chosen, from the one that has the turn on.
func (c Choice) Sockets(yield func(frame.SocketAddr) bool) {
	switch b := c.bound; {
	case b == nil:
		yield(c.socket)
	case c.own:
		b.own.each(func(e *entry) bool { return yield(e.socket()) })
	default:
		b.all.each(func(e *entry) bool { return yield(e.socket()) })
	}
}
