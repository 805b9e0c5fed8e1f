// SPDX-License-Identifier: Apache-2.0

package naming

import "github.com/utipc/utipc/frame"

// A Choice is a socket that has the turn among those bound to a service.
type Choice struct {
	socket frame.SocketAddr
	circle *circle // nil: nobody takes turns
}

// Socket is the chosen socket.
func (c Choice) Socket() frame.SocketAddr { return c.socket }

// Take gives the turn to the next. Without it the next choice is the same, as long
// as the table is.
func (c Choice) Take() {
	if c.circle != nil {
		c.circle.advance()
	}
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
// instance in it, by lower bound, whoever has the turn. With a lookup node that
// is the own node only own sockets count. With another lookup node the answer is
// port 0 there: that node will look up itself.
// Source: docs/spec/05-naming.md §5.1.
func (t *Table) Choose(a frame.Service) (Choice, bool) {
	if a.Node != 0 && a.Node != t.self {
		return Choice{socket: frame.SocketAddr{Node: a.Node}}, true
	}
	s := t.services[a.Type]
	if s == nil {
		return Choice{}, false
	}
	for _, b := range s.overlapping(a.Range()) {
		if b.r.Upper < a.Instance {
			continue
		}
		c := &b.all
		if a.Node != 0 {
			c = &b.local
		}
		if len(c.members) > 0 {
			return Choice{c.members[c.next].Socket, c}, true
		}
	}
	return Choice{}, false
}

// A Memo is what a sender's last lookup found, so that the next one to the same
// service costs no search as long as the table is the same. The zero value is empty.
type Memo struct {
	a       frame.Service
	version uint64
	circle  *circle
}

// Recall is Choose with a memory of the last lookup.
func (t *Table) Recall(m *Memo, a frame.Service) (Choice, bool) {
	if c := m.circle; c != nil && m.version == t.version && m.a == a {
		return Choice{c.members[c.next].Socket, c}, true
	}
	c, ok := t.Choose(a)
	*m = Memo{a, t.version, c.circle}
	return c, ok
}

// LocalReceivers appends to dst the ports of this node bound to a range that
// overlaps r, each once. A message from another node reaches cluster bindings
// only. Source: docs/spec/05-naming.md §5.2.
func (t *Table) LocalReceivers(dst []uint32, r frame.Range, remote bool) []uint32 {
	s := t.services[r.Type]
	if s == nil {
		return dst
	}
	start := len(dst)
	for _, x := range s.overlapping(r) {
		if !x.r.Overlaps(r) {
			continue
		}
	next:
		for _, b := range x.local.members {
			if remote && b.Scope != frame.ClusterScope || b.Socket.Port == 0 {
				continue
			}
			for _, p := range dst[start:] {
				if p == b.Socket.Port {
					continue next
				}
			}
			dst = append(dst, b.Socket.Port)
		}
	}
	return dst
}
