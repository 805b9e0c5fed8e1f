// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Bindings [1,10], [5,20], [1,10] made in this order give three events by binding and
// two by range, in this order, whoever has the turn. Source: docs/spec/06-topology.md §2.3.
//
// Proves: names.subscriptions
func TestOverlappingOrder(t *testing.T) {
	tab := NewTable(own)
	insert := func(l, u uint32, letter rune) {
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: l, Upper: u}, Scope: frame.ClusterScope, Socket: socket(letter)})
	}
	insert(5, 20, 'b')
	tab.Purge(remote1) // a range that was before is new when it returns
	insert(1, 10, 'c')
	insert(5, 20, 'b')
	insert(1, 10, 'a')
	insert(30, 40, 'c')
	insert(0, 0, 'c')
	text := func(seq iter.Seq[Binding]) (s string) {
		for b := range seq {
			s += fmt.Sprintf("%d-%d%s ", b.Range.Lower, b.Range.Upper, letterOf(b.Socket))
		}
		return s
	}
	for range 3 {
		for _, c := range []struct {
			l, u        uint32
			all, ranges string
		}{
			{1, 25, "1-10c 5-20b 1-10a ", "1-10c 5-20b "},
			{0, 100, "1-10c 5-20b 1-10a 30-40c 0-0c ", "1-10c 5-20b 30-40c 0-0c "},
			{20, 30, "5-20b 30-40c ", "5-20b 30-40c "},
			{21, 29, "", ""},
		} {
			r := frame.Range{Type: 100, Lower: c.l, Upper: c.u}
			if got := text(tab.Overlapping(r)); got != c.all {
				t.Errorf("bindings in %v: got %s, want %s", r, got, c.all)
			}
			if got := text(tab.OverlappingRanges(r)); got != c.ranges {
				t.Errorf("ranges in %v: got %s, want %s", r, got, c.ranges)
			}
		}
		tab.Anycast(frame.Service{Type: 100, Instance: 3})
	}
	if got := text(tab.Overlapping(frame.Range{Type: 101, Upper: 99})); got != "" {
		t.Errorf("another type: got %s", got)
	}
	for range tab.Overlapping(frame.Range{Type: 100, Upper: 99}) {
		break // and no more
	}
}

// The first binding of exactly a range and the last are told as such, whatever their
// node and scope, by Remove and Purge. Source: docs/spec/06-topology.md §2.3.
//
// Proves: names.subscriptions
func TestEventEdges(t *testing.T) {
	tab := NewTable(own)
	step := func(letter rune, scope frame.Scope, u uint32) Binding {
		return Binding{Range: frame.Range{Type: 100, Lower: 1, Upper: u}, Scope: scope, Socket: socket(letter)}
	}
	node, cluster := frame.Scope(frame.NodeScope), frame.Scope(frame.ClusterScope)
	tab.Insert(step('a', node, 10))
	tab.Insert(step('b', cluster, 10))
	tab.Insert(step('B', cluster, 11)) // overlaps, and is another range
	tab.Insert(step('B', cluster, 10))
	tab.Insert(step('B', cluster, 10)) // repeated: no event
	tab.Remove(step('a', node, 10))
	tab.Insert(step('c', cluster, 11))
	tab.Purge(remote1)
	tab.Remove(step('c', cluster, 11))
	tab.Remove(step('c', cluster, 11))
	var got []string
	for _, ev := range tab.TakeEvents(nil) {
		s := "+"
		if ev.Withdrawn {
			s = "-"
		}
		s += fmt.Sprint(letterOf(ev.Binding.Socket), ev.Binding.Range.Upper)
		if ev.Edge {
			s += "!"
		}
		got = append(got, s)
	}
	want := []string{"+a10!", "+b10", "+B11!", "+B10", "-a10", "+c11", "-b10", "-B11", "-B10!", "-c11!"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if ev := tab.TakeEvents(nil); len(ev) != 0 {
		t.Errorf("told again: %v", ev)
	}
}
