// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"slices"

	"github.com/utipc/utipc/frame"
)

// MaxSubscriptions is the number of subscriptions that a node takes from programs
// over the wire, and as many again of its own.
// Source: docs/spec/05-naming.md §1.2.
const MaxSubscriptions = 65535

// A Subscription asks for the changes of the bindings that overlap a range. Range,
// Filter and Owner are set before it is added and stay.
//
//	filter          existing bindings          later
//	ports           each                       each
//	service, none   the oldest of each range   a range's first and last
//
// FilterClusterScope and FilterNodeScope keep back what is of another scope, both
// together everything; FilterNoStatus the existing bindings. First and last are of
// exactly the binding's range, all nodes and scopes together: a range whose first
// binding has the other scope is not told of.
// Source: docs/spec/06-topology.md §2.
type Subscription struct {
	Range  frame.Range
	Filter frame.Filter
	Owner  any // the owner's own word for it

	serial      uint64 // its place in the order of delivery; 0: not added
	left, right *Subscription
	height      int8
	reach       uint32 // the largest upper bound from here down
}

// Legal reports whether the range has an order, and the filter does not ask for
// both kinds of events.
func (x *Subscription) Legal() bool {
	both := frame.FilterPorts | frame.FilterService
	return x.Range.Lower <= x.Range.Upper && x.Filter&both != both
}

// Added reports whether the subscription is among a node's.
func (x *Subscription) Added() bool { return x.serial != 0 }

// Existing calls told with the bindings of t that a new subscription is told of, in
// the order in which they were inserted. It returns how many it looked at.
func (x *Subscription) Existing(t *Table, told func(Binding)) (looked int) {
	if x.Filter&frame.FilterNoStatus != 0 {
		return 0
	}
	all := t.OverlappingRanges
	if x.everyPort() {
		all = t.Overlapping
	}
	for b := range all(x.Range) {
		looked++
		if x.scoped(b) {
			told(b)
		}
	}
	return looked
}

// wants reports whether ev, of a range that overlaps, is to be told.
func (x *Subscription) wants(ev Event) bool {
	return (ev.Edge || x.everyPort()) && x.scoped(ev.Binding)
}

// everyPort reports whether each binding is told of, not the first and last of a range.
func (x *Subscription) everyPort() bool { return x.Filter&frame.FilterPorts != 0 }

func (x *Subscription) scoped(b Binding) bool {
	if b.Scope == frame.NodeScope {
		return x.Filter&frame.FilterClusterScope == 0
	}
	return x.Filter&frame.FilterNodeScope == 0
}

// Subscriptions are those of a node, found by type and range: a change of the table
// costs a search in a tree and what it finds. The zero value is empty. Not safe for
// concurrent use.
type Subscriptions struct {
	types  map[uint32]*Subscription // the root of each type's tree
	serial uint64
	n      int
	search overlap  // that runs, kept so that none has to be allocated
	match  Matching // that of Match
}

// Len is the number of subscriptions.
func (s *Subscriptions) Len() int { return s.n }

// Add adds a subscription that is nowhere yet.
func (s *Subscriptions) Add(x *Subscription) {
	if s.types == nil {
		s.types = map[uint32]*Subscription{}
	}
	s.serial++
	x.serial = s.serial
	s.types[x.Range.Type] = s.types[x.Range.Type].insert(x)
	s.n++
}

// Remove takes a subscription away. It is harmless for one that is not there.
func (s *Subscriptions) Remove(x *Subscription) {
	if !x.Added() {
		return
	}
	root := s.types[x.Range.Type].remove(x)
	if root == nil {
		delete(s.types, x.Range.Type)
	} else {
		s.types[x.Range.Type] = root
	}
	x.serial, x.left, x.right = 0, nil, nil
	s.n--
}

// Match appends the subscriptions to dst that are to be told of ev, in the order in
// which they were added.
func (s *Subscriptions) Match(dst []*Subscription, ev Event) []*Subscription {
	start := len(dst)
	s.match = Matching{}
	dst, _ = s.match.Next(s, dst, ev, s.n)
	ByAge(dst[start:])
	return dst
}

// ByAge sorts subscriptions in the order in which they were added.
func ByAge(l []*Subscription) {
	slices.SortFunc(l, func(a, b *Subscription) int { return cmp.Compare(a.serial, b.serial) })
}

// Wants reports whether the subscription is to be told of ev.
func (x *Subscription) Wants(ev Event) bool { return ev.Binding.Range.Overlaps(x.Range) && x.wants(ev) }
