// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/utipc/utipc/frame"
)

// Reserved service types. Source: docs/spec/05-naming.md §1.1.
const (
	NodeState    = 0  // {0,A,A}: node A is there
	TopologyType = 1  // the topology service
	LinkState    = 2  // {2,P,P}: a link to node P is up
	FirstUser    = 64 // the first type a program may bind
)

// MaxBindings is the number of bindings one node may have, its own included.
const MaxBindings = 65535

// A Binding is a socket bound to a range.
type Binding struct {
	Range  frame.Range
	Scope  frame.Scope // ClusterScope or NodeScope
	Socket frame.SocketAddr
	Key    uint32 // tells bindings of one range and node apart
}

// An Event is a change of the table.
type Event struct {
	Withdrawn bool // else published
	Edge      bool // the first of exactly its range, or the last: of all nodes and scopes
	Binding   Binding
}

// A Table is all bindings a node knows. Not safe for concurrent use.
type Table struct {
	self     frame.NodeAddr
	services map[uint32]*service
	count    map[frame.NodeAddr]int
	events   []Event
	version  uint64             // changes so far
	born     map[Binding]uint64 // the version that each came with
}

// A service is all ranges of one type.
type service struct {
	ranges []*bound // by lower bound; of equal ones the newest first
	reach  []uint32 // reach[i] is the largest upper bound in ranges[:i+1]
}

// A bound is one exact range and who is bound to it.
type bound struct {
	r     frame.Range
	all   circle
	local circle
}

// A circle is a list whose members take turns; a new one is next.
type circle struct {
	members []Binding
	next    int
}

func (c *circle) add(b Binding) { c.members = slices.Insert(c.members, c.next, b) }

func (c *circle) advance() {
	if c.next++; c.next >= len(c.members) {
		c.next = 0
	}
}

func (c *circle) index(b Binding) int {
	return slices.IndexFunc(c.members, func(m Binding) bool { return m.Key == b.Key && m.Socket == b.Socket })
}

func (c *circle) remove(b Binding) (Binding, bool) {
	i := c.index(b)
	if i < 0 {
		return Binding{}, false
	}
	b = c.members[i]
	c.members = slices.Delete(c.members, i, i+1)
	if i < c.next {
		c.next--
	}
	if c.next >= len(c.members) {
		c.next = 0
	}
	return b, true
}

// purge removes the members of a node and returns them; the others' turns stay.
func (c *circle) purge(n frame.NodeAddr) (gone []Binding) {
	kept, next := c.members[:0], c.next
	for i, b := range c.members {
		if b.Socket.Node != n {
			kept = append(kept, b)
			continue
		}
		gone = append(gone, b)
		if i < c.next {
			next--
		}
	}
	clear(c.members[len(kept):])
	c.members, c.next = kept, next
	if next >= len(kept) {
		c.next = 0
	}
	return gone
}

// NewTable makes an empty table of the node self.
func NewTable(self frame.NodeAddr) *Table {
	return &Table{self: self, services: map[uint32]*service{}, count: map[frame.NodeAddr]int{}, born: map[Binding]uint64{}}
}

// Count returns the number of bindings of a node.
func (t *Table) Count(n frame.NodeAddr) int { return t.count[n] }

func (t *Table) changed(ev Event) {
	t.events = append(t.events, ev)
	t.version++
	if ev.Withdrawn {
		delete(t.born, ev.Binding)
	} else {
		t.born[ev.Binding] = t.version
	}
}

// find returns the place of the exact range r among s, or where it belongs.
func (s *service) find(r frame.Range) (int, bool) {
	i, _ := slices.BinarySearchFunc(s.ranges, r.Lower, func(b *bound, lower uint32) int { return cmp.Compare(b.r.Lower, lower) })
	for j := i; j < len(s.ranges) && s.ranges[j].r.Lower == r.Lower; j++ {
		if s.ranges[j].r.Upper == r.Upper {
			return j, true
		}
	}
	return i, false
}

// reindex brings reach up to date from place i on.
func (s *service) reindex(i int) {
	s.reach = slices.Grow(s.reach[:i], len(s.ranges)-i)[:len(s.ranges)]
	for ; i < len(s.ranges); i++ {
		s.reach[i] = s.ranges[i].r.Upper
		if i > 0 {
			s.reach[i] = max(s.reach[i], s.reach[i-1])
		}
	}
}

// Insert adds a binding and reports whether it was new.
func (t *Table) Insert(b Binding) bool {
	s := t.services[b.Range.Type]
	if s == nil {
		s = &service{}
		t.services[b.Range.Type] = s
	}
	i, ok := s.find(b.Range)
	if !ok {
		s.ranges = slices.Insert(s.ranges, i, &bound{r: b.Range})
		s.reindex(i)
	}
	r := s.ranges[i]
	if r.all.index(b) >= 0 {
		return false
	}
	r.all.add(b)
	if b.Socket.Node == t.self {
		r.local.add(b)
	}
	t.count[b.Socket.Node]++
	t.changed(Event{Edge: len(r.all.members) == 1, Binding: b})
	return true
}

// Remove takes away the binding with this range, socket and key, and reports
// whether it was there.
func (t *Table) Remove(b Binding) bool {
	s := t.services[b.Range.Type]
	if s == nil {
		return false
	}
	i, ok := s.find(b.Range)
	if !ok {
		return false
	}
	r := s.ranges[i]
	b, ok = r.all.remove(b)
	if !ok {
		return false
	}
	r.local.remove(b)
	if len(r.all.members) == 0 {
		s.ranges = slices.Delete(s.ranges, i, i+1)
		s.reindex(i)
		if len(s.ranges) == 0 {
			delete(t.services, b.Range.Type)
		}
	}
	if t.count[b.Socket.Node]--; t.count[b.Socket.Node] == 0 {
		delete(t.count, b.Socket.Node)
	}
	t.changed(Event{Withdrawn: true, Edge: len(r.all.members) == 0, Binding: b})
	return true
}

// Purge removes every binding of a node, in one pass over the table: a peer may
// have many, and be lost at any time.
func (t *Table) Purge(n frame.NodeAddr) {
	if t.count[n] == 0 {
		return
	}
	for _, typ := range slices.Sorted(maps.Keys(t.services)) {
		s := t.services[typ]
		had := len(s.ranges)
		s.ranges = slices.DeleteFunc(s.ranges, func(r *bound) bool {
			gone := r.all.purge(n)
			for i, b := range gone {
				last := len(r.all.members) == 0 && i == len(gone)-1
				t.changed(Event{Withdrawn: true, Edge: last, Binding: b})
			}
			r.local.purge(n)
			return len(r.all.members) == 0
		})
		switch {
		case len(s.ranges) == 0:
			delete(t.services, typ)
		case len(s.ranges) < had:
			s.reindex(0)
		}
	}
	delete(t.count, n)
}

// All yields every binding: by type, then lower bound, then in order of turn.
func (t *Table) All() iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		for _, typ := range slices.Sorted(maps.Keys(t.services)) {
			for _, r := range t.services[typ].ranges {
				for _, b := range r.all.members {
					if !yield(b) {
						return
					}
				}
			}
		}
	}
}

// Overlapping yields every binding whose range overlaps r, in the order in which
// they were inserted.
func (t *Table) Overlapping(r frame.Range) iter.Seq[Binding] {
	return slices.Values(t.byAge(r, func(all []Binding) []Binding { return all }))
}

// OverlappingRanges yields the oldest binding of every range that overlaps r, the
// oldest of these first.
func (t *Table) OverlappingRanges(r frame.Range) iter.Seq[Binding] {
	return slices.Values(t.byAge(r, func(all []Binding) []Binding {
		return []Binding{slices.MinFunc(all, t.older)}
	}))
}

func (t *Table) older(a, b Binding) int { return cmp.Compare(t.born[a], t.born[b]) }

// byAge returns what pick takes of the bindings of each range that overlaps r, the
// oldest first.
func (t *Table) byAge(r frame.Range, pick func([]Binding) []Binding) (all []Binding) {
	s := t.services[r.Type]
	if s == nil {
		return nil
	}
	for _, x := range s.overlapping(r) {
		if x.r.Overlaps(r) {
			all = append(all, pick(x.all.members)...)
		}
	}
	slices.SortFunc(all, t.older)
	return all
}

// overlapping returns a run of ranges that has all that overlap r in it.
func (s *service) overlapping(r frame.Range) []*bound {
	i, _ := slices.BinarySearch(s.reach, r.Lower)
	j := len(s.ranges)
	if r.Upper < 1<<32-1 {
		j, _ = slices.BinarySearchFunc(s.ranges, r.Upper+1, func(b *bound, lower uint32) int { return cmp.Compare(b.r.Lower, lower) })
	}
	return s.ranges[i:max(i, j)]
}

// TakeEvents appends the changes since the last call to dst.
func (t *Table) TakeEvents(dst []Event) []Event {
	dst = append(dst, t.events...)
	t.events = t.events[:0]
	return dst
}
