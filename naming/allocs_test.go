// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/test/bench/names/bindings"
)

// Lookups, all kinds of them, are on the path of every message.
//
// Proves: names.cost
func TestNoAllocsLookups(t *testing.T) {
	for _, s := range bindings.Shapes() {
		ranges, keys := s.Make(10_000)
		tab, err := bindings.Fill(ranges)
		if err != nil {
			t.Fatal(err)
		}
		var nodes [128]frame.NodeAddr
		var memo naming.Memo
		var many naming.NodesMemo
		i := 0
		if got := testing.AllocsPerRun(1000, func() {
			k := keys[i*7919%len(keys)]
			i++
			c, ok := tab.Choose(k)
			if !ok {
				t.Fatalf("%s: %v is not found", s.Name, k)
			}
			tab.Recall(&memo, k)
			if again, _ := tab.Recall(&memo, k); again.Socket() != c.Socket() {
				t.Fatalf("%s: %v: got %v, want %v", s.Name, k, again.Socket(), c.Socket())
			}
			c.Take()
			tab.Choose(frame.Service{Type: k.Type, Instance: k.Instance, Node: bindings.Own})
			tab.Nodes(nodes[:0], k.Range())
		}); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", s.Name, got)
		}
		r := frame.Range{Type: ranges[0].Type, Upper: 1<<32 - 1}
		want := tab.Nodes(nil, r)
		if got := testing.AllocsPerRun(100, func() {
			if got := tab.RecallNodes(&many, nodes[:0], r); !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v", s.Name, got, want)
			}
		}); got != 0 || len(want) == 0 {
			t.Errorf("%s: nodes recalled: got %v allocations, want 0", s.Name, got)
		}
	}
}
