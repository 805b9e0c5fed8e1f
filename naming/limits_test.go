// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// A full table refuses other nodes and says why; the own node has room in it still.
//
// Proves: names.limits
func TestTableLimits(t *testing.T) {
	tab := NewTable(own)
	tab.Limit = 3
	n := uint32(0)
	add := func(node frame.NodeAddr, r frame.Range) error {
		n++
		return tab.Add(Binding{Range: r, Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: n, Node: node}, Key: 7})
	}
	for i, c := range []struct {
		node frame.NodeAddr
		r    frame.Range
		want error
		len  int
	}{
		{remote1, single(100, 1), nil, 1},
		{remote1, frame.Range{Type: 100, Lower: 2, Upper: 1}, ErrInverted, 1},
		{remote2, single(100, 1), nil, 2},
		{own, single(100, 1), nil, 3},
		{remote1, single(100, 1), ErrTableFull, 3},
		{remote1, single(101, 1), ErrTableFull, 3},
		{remote2 + 1, single(101, 1), ErrTableFull, 3},
		{own, single(101, 1), nil, 4},
		{own, single(101, 1), nil, 5},
	} {
		if got := add(c.node, c.r); got != c.want || tab.Len() != c.len {
			t.Errorf("step %d: got %v, %d bindings; want %v, %d", i, got, tab.Len(), c.want, c.len)
		}
	}
	known := Binding{Range: single(100, 1), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: 1, Node: remote1}, Key: 7}
	if err := tab.Add(known); err != ErrRepeated {
		t.Errorf("known: got %v, want %v", err, ErrRepeated)
	}
	tab.Purge(own)
	if err := add(remote1, single(101, 1)); err != nil {
		t.Errorf("with room again: got %v", err)
	}
	if err := tab.Check(); err != nil {
		t.Error(err)
	}
}

// A node has MaxBindings bindings at most, whatever their ranges.
//
// Proves: names.limits
func TestNodeLimit(t *testing.T) {
	for _, node := range []frame.NodeAddr{own, remote1} {
		tab := NewTable(own)
		add := func(i uint32) error {
			return tab.Add(Binding{Range: single(100+i%2, i%3*i), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: i, Node: node}})
		}
		for i := range uint32(MaxBindings) {
			if err := add(i); err != nil {
				t.Fatalf("%v: binding %d: %v", node, i, err)
			}
		}
		if err := add(MaxBindings); err != ErrNodeFull {
			t.Errorf("%v: got %v, want %v", node, err, ErrNodeFull)
		}
		if err := add(1); err != ErrRepeated {
			t.Errorf("%v: got %v, want %v", node, err, ErrRepeated)
		}
		if err := tab.Add(Binding{Range: single(100, 1), Socket: frame.SocketAddr{Node: remote2}}); err != nil {
			t.Errorf("another node: %v", err)
		}
		if tab.Count(node) != MaxBindings || tab.Count(remote2) != 1 || tab.Len() != MaxBindings+1 {
			t.Errorf("%v: got %d, %d of %d", node, tab.Count(node), tab.Count(remote2), tab.Len())
		}
	}
}
