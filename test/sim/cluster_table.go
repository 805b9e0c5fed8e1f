// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// What must hold of names. At each node the events of a binding are published,
// withdrawn, published …, and what was told last is what the table has. When the
// network has been quiet all tables are the union of what is bound. Some time after a
// node was lost nobody has a binding of it.

// interval is that of a link's probes. Source: docs/spec/02-link.md §3.
func interval(tolerance time.Duration) time.Duration { return min(tolerance/4, 500*time.Millisecond) }

// purgeTime is the time after which two members that cannot hear each other must know.
func (m *member) purgeTime(o *member) time.Duration {
	t := max(m.tolerance, o.tolerance) // a link has the larger one
	return t + 2*interval(t) + time.Second
}

// nameEvent follows a change of a node's table.
func (t *term) nameEvent(ev naming.Event) {
	c, b := t.m.c, ev.Binding
	c.report.Events++
	c.note('n', t.m.idx, nil, uint64(b.Range.Lower)<<32|uint64(b.Key))
	c.tracef("node %d: %+v", t.m.idx, ev)
	was := t.told[b]
	switch {
	case ev.Withdrawn && c.mutate(ForgetPurge, b.Socket.Node != t.eng.Address() && t.lost[b.Socket.Node] > 0 && b.Socket.Port != 0):
		// As if the table had it for ever.
	case ev.Withdrawn && !was:
		c.violate("events", "node %d: %+v withdrawn and was not published", t.m.idx, b)
	case !ev.Withdrawn && was:
		c.violate("events", "node %d: %+v published and was already", t.m.idx, b)
	case ev.Withdrawn:
		delete(t.told, b)
	default:
		t.told[b] = true
	}
}

// bindings yields what a node is bound to and all should know.
func (t *term) bindings(yield func(naming.Binding) bool) {
	a := t.eng.Address()
	own := naming.Binding{
		Range: frame.Range{Type: naming.NodeState, Lower: uint32(a), Upper: uint32(a)}, Scope: frame.ClusterScope,
		Socket: frame.SocketAddr{Node: a}, Key: uint32(a),
	}
	if !yield(own) {
		return
	}
	for _, s := range t.socks {
		for _, b := range s.e.Bindings() {
			if b.Scope == frame.ClusterScope && !yield(b) {
				return
			}
		}
	}
	for _, p := range t.sole {
		for _, b := range p.Bindings() {
			if !yield(b) {
				return
			}
		}
	}
	for _, x := range t.acceptors {
		for _, b := range x.e.Bindings() {
			if !yield(b) {
				return
			}
		}
	}
}

// bound yields what all nodes are bound to and all should know.
func (c *cluster) bound(yield func(naming.Binding) bool) {
	for _, m := range c.members {
		for b := range m.term.bindings {
			if !yield(b) {
				return
			}
		}
	}
}

// know reports whether every node has heard of as many bindings as there are.
func (c *cluster) know() bool {
	all := 0
	for _, m := range c.members {
		if m.term == nil || m.term.eng.Address() == 0 {
			return false
		}
		all += 1 + m.term.bound()
	}
	for _, m := range c.members {
		n := 0
		for b := range m.term.told {
			if b.Range.Type != naming.LinkState && b.Range.Type != naming.TopologyType {
				n++
			}
		}
		// Those of node scope are each known to one node only.
		if n != all-c.hidden(m) {
			return false
		}
	}
	return true
}

// hidden is how many bindings other members than m keep to themselves.
func (c *cluster) hidden(m *member) (n int) {
	for _, o := range c.members {
		if o == m {
			continue
		}
		for _, s := range o.term.socks {
			for _, b := range s.binds {
				if b.scope == frame.NodeScope {
					n++
				}
			}
		}
	}
	return n
}

// checkTables is called when the network has been quiet.
func (c *cluster) checkTables() {
	c.report.Audits++
	copies := []naming.Copy{{Bindings: c.bound}} // the truth, of no node
	for _, m := range c.members {
		copies = append(copies, naming.Copy{Node: m.term.eng.Address(), Bindings: m.term.eng.Bindings})
	}
	for _, d := range naming.Audit(copies) {
		if len(d.Lack) > 0 && d.Lack[0] == 0 {
			c.violate("tables", "nobody bound, or its node withdrew, what some have: %v", d)
		} else {
			c.violate("tables", "%v", d)
		}
	}
	for _, m := range c.members {
		m.term.checkOwn()
	}
	c.checkSole()
}

// checkOwn compares what is in a node's table for itself alone with what should be,
// what its sockets say with what was asked of them, and the table with what the events
// told.
func (t *term) checkOwn() {
	c, a := t.m.c, uint32(t.eng.Address())
	var got, want []row
	n := 0
	for b := range t.eng.Bindings {
		n++
		if !t.told[b] {
			c.violate("events", "node %d: the table has %+v, which no event told", t.m.idx, b)
		}
		if b.Scope == frame.NodeScope && b.Range.Type != naming.TopologyType {
			got = append(got, rowOf(b))
		}
	}
	if n != len(t.told) {
		c.violate("events", "node %d: the table has %d bindings, events told of %d", t.m.idx, n, len(t.told))
	}
	for _, o := range c.members {
		if o != t.m {
			p := uint32(o.term.eng.Address())
			for _, i := range t.netsTo(o) {
				want = append(want, row{naming.LinkState, p, p, uint8(frame.NodeScope), uint32(i<<16 | i), a})
			}
		}
	}
	for _, s := range t.socks {
		for _, b := range s.binds {
			if b.scope == frame.NodeScope {
				want = append(want, row{b.r.Type, b.r.Lower, b.r.Upper, uint8(b.scope), s.e.Addr().Port, a})
			}
		}
		s.checkBindings()
	}
	slices.SortFunc(got, row.compare)
	slices.SortFunc(want, row.compare)
	if !slices.Equal(got, want) {
		c.violate("tables", "node %d: of node scope got %v, want %v", t.m.idx, got, want)
	}
}

// checkBindings compares what a socket is bound to with what was asked of it.
func (s *sock) checkBindings() {
	var got, want []row
	addr := s.e.Addr()
	for _, b := range s.e.Bindings() {
		got = append(got, rowOf(b))
	}
	for _, b := range s.binds {
		want = append(want, row{b.r.Type, b.r.Lower, b.r.Upper, uint8(b.scope), addr.Port, uint32(addr.Node)})
	}
	slices.SortFunc(got, row.compare)
	slices.SortFunc(want, row.compare)
	if !slices.Equal(got, want) {
		s.t.m.c.violate("tables", "node %d: port %v says %v, was bound to %v", s.t.m.idx, addr, got, want)
	}
}

// watchPurge looks some time after the end of a life whether all others have forgotten
// its bindings.
func (c *cluster) watchPurge(t *term) {
	had, started := slices.Collect(t.bindings), c.lives
	for _, o := range c.members {
		at := o.term
		if o == t.m || at == nil {
			continue
		}
		c.clock.after(t.m.purgeTime(o), func() {
			if at.dead {
				return
			}
			c.report.Purges++
			for _, b := range had {
				// That a node of this address is there may be known of a later life.
				if at.told[b] && !t.m.has(b) && (b.Socket.Port != 0 || t.m.began <= started) {
					c.violate("purge", "node %d still has %+v, whose node ended %v ago", o.idx, b, t.m.purgeTime(o))
					return
				}
			}
		})
	}
}

// has reports whether a member is bound so in its present life.
func (m *member) has(b naming.Binding) bool {
	if m.term == nil {
		return false
	}
	for x := range m.term.bindings {
		if x == b {
			return true
		}
	}
	return false
}

// watchParted looks, if the cluster is still parted the same way then, whether each
// side has forgotten the other's bindings.
func (c *cluster) watchParted(split int) {
	for _, m := range c.members {
		for _, o := range c.members {
			s, t, u := c.nets[0].split, m.term, o.term
			if t == nil || u == nil || !s[m.idx][o.idx] || !s[o.idx][m.idx] {
				continue
			}
			c.watchApart(t, u, m.purgeTime(o), func() bool { return c.split == split })
			c.clock.after(m.purgeTime(o), func() {
				if c.split != split || t.dead {
					return
				}
				c.report.Purges++
				for b := range t.told { // one or none: any will do
					if b.Socket.Node == u.eng.Address() {
						c.violate("purge", "node %d still has a binding of node %d, parted from it %v ago", m.idx, o.idx, m.purgeTime(o))
						return
					}
				}
			})
		}
	}
}

// well reports whether all links are up and nothing is on its way.
func (c *cluster) well() bool {
	for _, m := range c.members {
		t := m.term
		if t == nil || t.eng.Unsent() > 0 {
			return false
		}
		up := 0
		for p, link := range t.links {
			if !c.gone(p.Node) && link.IsUp() && link.Idle() && link.Look().Deferred == 0 {
				up++
			}
		}
		if up != c.wanted() {
			return false
		}
		for _, s := range t.socks {
			if s.job != nil {
				return false
			}
		}
		if c.Connections && !t.idle(nil) {
			return false
		}
	}
	return true
}

// gone reports whether no member has an address any more.
func (c *cluster) gone(a frame.NodeAddr) bool {
	for _, m := range c.members {
		if m.term != nil && m.term.eng.Address() == a {
			return false
		}
	}
	return true
}

// checkWell says what is not well.
func (c *cluster) checkWell() {
	for _, m := range c.members {
		t := m.term
		if t == nil {
			c.violate("health", "node %d is down", m.idx)
			continue
		}
		if n := t.eng.Unsent(); n > 0 {
			c.violate("health", "node %d: %d packets are not acknowledged", m.idx, n)
		}
		up := 0
		for p, link := range t.links {
			if c.gone(p.Node) || !link.IsUp() && c.spoilt() {
				continue
			}
			if !link.IsUp() || !link.Idle() || link.Look().Deferred > 0 {
				c.violate("health", "node %d to %v: link %v, %d waiting, %d deferred packets", m.idx, p.Node, link.State(), link.Backlog(), link.Look().Deferred)
				continue
			}
			up++
		}
		if want := c.wanted(); up != want {
			c.violate("health", "node %d has %d links up, want %d", m.idx, up, want)
		}
		for _, s := range t.socks {
			if n := s.e.Pending(); n > 0 {
				c.violate("health", "node %d: port %v has %d unread messages", m.idx, s.e.Addr(), n)
			}
		}
	}
}
