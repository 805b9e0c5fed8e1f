// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/utipc/utipc/frame"
)

// All yields every binding: by type, then lower bound, then in order of turn. The
// table must not change meanwhile.
func (t *Table) All() iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		for _, typ := range slices.Sorted(maps.Keys(t.services)) {
			for _, bl := range t.services[typ].all.blocks {
				for _, b := range bl.bounds {
					for e := range b.all.each {
						if !yield(e.binding()) {
							return
						}
					}
				}
			}
		}
	}
}

// Overlapping yields every binding whose range overlaps r, in the order in which they
// came into the table. Source: docs/spec/06-topology.md §2.3.
func (t *Table) Overlapping(r frame.Range) iter.Seq[Binding] {
	return t.collect(r, func(b *bound, dst []*entry) []*entry { return slices.AppendSeq(dst, b.all.each) })
}

// OverlappingRanges yields, for every range that overlaps r and is bound, its oldest
// binding, in the order in which these came into the table.
// Source: docs/spec/06-topology.md §2.3.
func (t *Table) OverlappingRanges(r frame.Range) iter.Seq[Binding] {
	return t.collect(r, func(b *bound, dst []*entry) []*entry { return append(dst, b.oldest()) })
}

// collect yields what pick takes from each range that overlaps r, oldest first.
func (t *Table) collect(r frame.Range, pick func(*bound, []*entry) []*entry) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		s := t.services[r.Type]
		if s == nil {
			return
		}
		var found []*entry
		s.all.visit(r.Lower, r.Upper, func(b *bound) bool {
			found = pick(b, found)
			return true
		})
		slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.serial, b.serial) })
		for _, e := range found {
			if !yield(e.binding()) {
				return
			}
		}
	}
}
