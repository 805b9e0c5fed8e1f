// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Thousands of ranges come and go; first and visit are compared with a sorted list.
//
// Proves: names.rules
func TestRangeSet(t *testing.T) {
	for name, c := range map[string]struct{ lowers, width uint32 }{
		"narrow":       {1 << 20, 3},
		"wide":         {1 << 12, 1 << 12},
		"equal lowers": {4, 1 << 20},
		"all mixed":    {1 << 10, 1 << 9},
	} {
		r := rand.New(rand.NewPCG(1, uint64(c.lowers)))
		var s rangeSet
		var list []*bound
		least := func(b *bound) int {
			i, _ := slices.BinarySearchFunc(list, b, func(a, b *bound) int {
				if a.r.Lower < b.r.Lower || a.r.Lower == b.r.Lower && a.created > b.created {
					return -1
				}
				return 1
			})
			return i
		}
		for step := range 12_000 {
			// Grows to some thousands, then shrinks to nothing.
			if grow := r.IntN(10) < 7; grow == (step < 6000) || len(list) == 0 {
				l := r.Uint32N(c.lowers)
				b := newBound(frame.Range{Type: 1, Lower: l, Upper: l + r.Uint32N(c.width)}, uint64(step))
				s.insert(b)
				list = slices.Insert(list, least(b), b)
			} else {
				i := r.IntN(len(list))
				s.remove(list[i])
				list = slices.Delete(list, i, i+1)
			}
			if step%50 != 0 && len(list) > 0 {
				continue
			}
			if err := s.check(); err != nil {
				t.Fatalf("%s: step %d: %v", name, step, err)
			}
			x := r.Uint32N(c.lowers + c.width)
			want := (*bound)(nil)
			if i := slices.IndexFunc(list, func(b *bound) bool { return b.r.Upper >= x }); i >= 0 {
				want = list[i]
			}
			if got := s.first(x); got != want {
				t.Fatalf("%s: step %d: first of %d: got %v, want %v", name, step, x, got, want)
			}
			y := x + r.Uint32N(c.width)
			var got, all []*bound
			s.visit(x, y, func(b *bound) bool {
				got = append(got, b)
				return true
			})
			for _, b := range list {
				if b.r.Lower <= y && b.r.Upper >= x {
					all = append(all, b)
				}
			}
			if !slices.Equal(got, all) {
				t.Fatalf("%s: step %d: overlapping %d-%d: got %d, want %d", name, step, x, y, len(got), len(all))
			}
		}
		for len(list) > 0 {
			s.remove(list[len(list)-1])
			list = list[:len(list)-1]
		}
		if s.first(0) != nil || len(s.blocks)+len(s.ends) != 0 {
			t.Errorf("%s: %d blocks left", name, len(s.blocks))
		}
	}
}

// Filled from either end, blocks are full: a million bindings are often made so.
func TestRangeSetFilledInOrder(t *testing.T) {
	for name, at := range map[string]func(i uint32) uint32{
		"up":    func(i uint32) uint32 { return i },
		"down":  func(i uint32) uint32 { return 100_000 - i },
		"equal": func(uint32) uint32 { return 5 },
	} {
		var s rangeSet
		for i := range uint32(10 * blockLen) {
			s.insert(newBound(frame.Range{Lower: at(i), Upper: 200_000 + i}, uint64(i)))
		}
		if err := s.check(); err != nil || len(s.blocks) > 11 {
			t.Errorf("%s: got %d blocks, %v; want 10 or 11", name, len(s.blocks), err)
		}
	}
}

// What was large once gives its memory back: else a peer could make a table of few
// bindings as large as it likes.
//
// Proves: names.rules
func TestMemoryGivenBack(t *testing.T) {
	tab := NewTable(own)
	bind := func(i uint32, r frame.Range) Binding {
		return Binding{Range: r, Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: remote1 + frame.NodeAddr(i%3000)}, Key: i}
	}
	const many = 20_000
	for i := range uint32(many) {
		tab.Insert(bind(i, single(100, 5)))
		tab.Insert(bind(i, single(101, i)))
	}
	tab.TakeEvents(nil)
	if cap(tab.events) != 0 {
		t.Errorf("room for %d events kept", cap(tab.events))
	}
	for i := range uint32(many - 10) {
		tab.Remove(bind(i, single(100, 5)))
		tab.Remove(bind(i, single(101, i)))
	}
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	b := tab.ranges[single(100, 5)].bound
	if b.bindingIndex == nil || b.bindingIndex.room > 4*10 {
		t.Errorf("the index of %d: %+v", b.all.n, b.bindingIndex)
	}
	for typ := range uint32(2) {
		s := tab.services[100+typ]
		if got := cap(s.all.blocks) + cap(s.all.ends) + cap(s.all.blocks[0].bounds) + cap(s.all.blocks[0].spans) + cap(s.shares); got > 5*4*10 {
			t.Errorf("type %d: room for %d kept", 100+typ, got)
		}
	}
}
