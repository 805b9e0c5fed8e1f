// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"errors"
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

const (
	// MaxBindings is the number of bindings one node may have, its own included.
	MaxBindings = 65535
	// DefaultLimit is the number of bindings a table takes unless told otherwise.
	DefaultLimit = 1 << 21
)

var (
	// ErrRepeated means the table has the binding already.
	ErrRepeated = errors.New("naming: binding exists")
	// ErrNodeFull means a node has MaxBindings bindings.
	ErrNodeFull = errors.New("naming: node has too many bindings")
	// ErrTableFull means all nodes together have Table.Limit bindings.
	ErrTableFull = errors.New("naming: binding table is full")
	// ErrInverted means a range's lower bound is above its upper bound.
	ErrInverted = errors.New("naming: inverted range")
)

// A Binding is a socket bound to a range.
type Binding struct {
	Range  frame.Range
	Scope  frame.Scope      // ClusterScope or NodeScope
	Socket frame.SocketAddr // of which the table does not keep Net
	Key    uint32           // tells bindings of one range and socket apart
}

// An Event is a change of the table.
type Event struct {
	Withdrawn bool // else published
	// Edge means the first binding of exactly its range was published, or the last
	// withdrawn, whatever its node and scope.
	Edge bool
	// Complete means an event of a subscription that says only that the bindings which existed were told.
	Complete bool
	Binding  Binding

	created, serial uint64 // of its range and its own, see place
}

func (ev *Event) place() place { return place{ev.Binding.Range.Lower, ev.created, ev.serial} }

// A Table is all bindings a node knows. Not safe for concurrent use.
//
//	services: type ──► all its ranges, in the order lookups try them
//	             └───► the same of each node that is bound to them
//	types:    the types, in order
//	ranges:  range ──► bound: its bindings, in order of turn
//	nodes:    node ──► its bindings, oldest first
//
// An entry is one binding and stands in the ring of its range and in that of its
// node. Maps are only looked into, never walked in their own order: two tables that
// were told the same say the same.
type Table struct {
	// Limit is how many bindings the table takes, of all nodes together. The own
	// node's are counted and never refused for it: others cannot take their room.
	Limit int

	self      frame.NodeAddr
	services  map[uint32]*service
	types     rangeSet // their keys
	ranges    map[frame.Range]rangeEntry
	wide      map[uint32]int // by type: ranges of more than one instance
	nodes     map[frame.NodeAddr]*ring
	condemned condemned
	n         int
	serial    uint64 // bindings that ever were
	events    []Event
	version   uint64 // changes so far
}

// A rangeEntry is where a range's bindings are. Where there is but one it tells that one's
// socket, so that a lookup need not go further.
type rangeEntry struct {
	bound *bound
	node  frame.NodeAddr // 0: ask the bound
	port  uint32
}

// updateEntry notes where the bindings of x are, when one has come or gone.
func (t *Table) updateEntry(x *bound) {
	switch x.all.n {
	case 1:
		t.ranges[x.r] = rangeEntry{x, x.turn, x.port}
	case 2:
		t.ranges[x.r] = rangeEntry{bound: x}
	}
}

// A service is all ranges of one type.
type service struct {
	key    bound // whose range is the type
	all    rangeSet
	shares []*share // by node
}

// A share is the ranges of one type that one node is bound to.
type share struct {
	node   frame.NodeAddr
	ranges rangeSet
}

// NewTable makes an empty table of the node self.
func NewTable(self frame.NodeAddr) *Table {
	return &Table{
		Limit: DefaultLimit, self: self,
		services: map[uint32]*service{}, ranges: map[frame.Range]rangeEntry{},
		wide: map[uint32]int{}, nodes: map[frame.NodeAddr]*ring{},
	}
}

// Count returns the number of bindings of a node.
func (t *Table) Count(n frame.NodeAddr) int {
	if c := t.nodes[n]; c != nil {
		return int(c.n)
	}
	return 0
}

// Len returns the number of bindings of all nodes.
func (t *Table) Len() int { return t.n }

// Insert is Add, and reports whether the binding was added.
func (t *Table) Insert(b Binding) bool { return t.Add(b) == nil }

// Add adds a binding. Errors: ErrRepeated, ErrNodeFull, ErrTableFull, ErrInverted.
func (t *Table) Add(b Binding) error {
	if b.Range.Lower > b.Range.Upper {
		return ErrInverted
	}
	node := b.Socket.Node
	w := who{b.Socket.Port, node, b.Key}
	if x := t.ranges[b.Range].bound; x != nil {
		if e := x.find(w); e != nil && !t.isCondemned(e) {
			return ErrRepeated
		} else if e != nil {
			t.discard(e)
		}
	}
	if t.Count(node) >= MaxBindings && !t.sweepOf(node) {
		return ErrNodeFull
	}
	if t.n >= t.Limit && node != t.self && t.Sweep(1) == 0 {
		return ErrTableFull
	}
	x := t.ranges[b.Range].bound
	t.serial++
	t.n++
	e := &entry{who: w, scope: b.Scope, serial: t.serial}
	edge := x == nil
	if edge {
		x = t.addRange(b.Range)
	}
	if !x.has(node) {
		t.services[b.Range.Type].share(node).ranges.insert(x)
	}
	x.join(e, node == t.self)
	t.updateEntry(x)
	c := t.nodes[node]
	if c == nil {
		c = &ring{ringKind: ofNode}
		t.nodes[node] = c
	}
	c.join(e)
	t.changed(Event{Edge: edge, Binding: e.binding(), created: x.created, serial: e.serial})
	return nil
}

// Remove takes away the binding with this range, socket and key, and reports
// whether it was there.
func (t *Table) Remove(b Binding) bool {
	x := t.ranges[b.Range].bound
	if x == nil {
		return false
	}
	e := x.find(who{b.Socket.Port, b.Socket.Node, b.Key})
	if e == nil {
		return false
	}
	there := !t.isCondemned(e)
	t.discard(e)
	return there
}

// discard removes an entry.
func (t *Table) discard(e *entry) {
	x, c := e.bound, t.nodes[e.node]
	x.leave(e, e.node == t.self)
	if c.leave(e); c.n == 0 {
		delete(t.nodes, e.node)
	}
	t.n--
	if x.all.n > 0 {
		t.updateEntry(x)
	}
	if s := t.services[x.r.Type]; !x.has(e.node) {
		s.unshare(e.node, x)
	}
	if x.all.n == 0 {
		t.dropRange(x)
	}
	t.changed(Event{Withdrawn: true, Edge: x.all.n == 0, Binding: e.binding(), created: x.created, serial: e.serial})
}

func (t *Table) changed(ev Event) {
	t.events = append(t.events, ev)
	t.version++
}

// addRange makes a range known that has no binding yet.
func (t *Table) addRange(r frame.Range) *bound {
	s := t.services[r.Type]
	if s == nil {
		s = &service{key: bound{r: frame.Range{Lower: r.Type, Upper: r.Type}}}
		t.services[r.Type] = s
		t.types.insert(&s.key)
	}
	x := newBound(r, t.serial)
	s.all.insert(x)
	if r.Lower < r.Upper {
		t.wide[r.Type]++
	}
	return x
}

// dropRange forgets a range that has no binding any more.
func (t *Table) dropRange(x *bound) {
	delete(t.ranges, x.r)
	s := t.services[x.r.Type]
	s.all.remove(x)
	if x.r.Lower < x.r.Upper {
		if t.wide[x.r.Type]--; t.wide[x.r.Type] == 0 {
			delete(t.wide, x.r.Type)
		}
	}
	if len(s.all.blocks) == 0 {
		delete(t.services, x.r.Type)
		t.types.remove(&s.key)
	}
}

func (s *service) find(n frame.NodeAddr) (int, bool) {
	return slices.BinarySearchFunc(s.shares, n, func(h *share, n frame.NodeAddr) int { return cmp.Compare(h.node, n) })
}

// share returns a node's share, which it makes if there is none.
func (s *service) share(n frame.NodeAddr) *share {
	i, ok := s.find(n)
	if !ok {
		s.shares = slices.Insert(s.shares, i, &share{node: n})
	}
	return s.shares[i]
}

// unshare takes a range out of a node's share.
func (s *service) unshare(n frame.NodeAddr, x *bound) {
	i, _ := s.find(n)
	if s.shares[i].ranges.remove(x); len(s.shares[i].ranges.blocks) == 0 {
		s.shares = cut(s.shares, i)
	}
}

// Changed reports whether TakeEvents has something to return.
func (t *Table) Changed() bool { return len(t.events) > 0 }

// TakeEvents appends the changes since the last call to dst.
func (t *Table) TakeEvents(dst []Event) []Event {
	dst = append(dst, t.events...)
	t.events = t.events[:0]
	if cap(t.events) > maxEventRoom {
		t.events = nil
	}
	return dst
}

// maxEventRoom is the number of events that memory is kept for.
const maxEventRoom = 4096
