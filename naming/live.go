// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"iter"

	"github.com/utipc/utipc/frame"
)

// Live yields the bindings that overlap r, of whatever node and scope, by range. Condemned ones
// are left out. The table must not change meanwhile.
func (t *Table) Live(r frame.Range) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		if s := t.services[r.Type]; s != nil {
			t.overlap(&s.all, r, func(b *bound) *ring { return &b.all }, yield)
		}
	}
}

// LiveOwn yields those of them that are the own node's.
func (t *Table) LiveOwn(r frame.Range) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		s := t.services[r.Type]
		if s == nil {
			return
		}
		if i, ok := s.find(t.self); ok {
			t.overlap(&s.shares[i].ranges, r, func(b *bound) *ring { return &b.own }, yield)
		}
	}
}

// overlap yields the bindings in one ring of each range of a set that overlaps r.
func (t *Table) overlap(set *rangeSet, r frame.Range, of func(*bound) *ring, yield func(Binding) bool) {
	set.visit(r.Lower, r.Upper, func(b *bound) bool {
		for e := range of(b).each {
			if !t.isCondemned(e) && !yield(e.binding()) {
				return false
			}
		}
		return true
	})
}
