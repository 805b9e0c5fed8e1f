// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Every node with an overlapping range counts, the own one too and with node scope
// alone. Source: docs/spec/05-naming.md §5.2.
//
// Proves: names.rules
func TestNodes(t *testing.T) {
	tab := NewTable(own)
	for i, b := range []struct {
		l, u  uint32
		node  frame.NodeAddr
		scope frame.Scope
	}{
		{1, 10, remote2, frame.ClusterScope},
		{5, 5, remote1, frame.ClusterScope},
		{7, 7, remote1, frame.ClusterScope},
		{9, 20, own, frame.NodeScope},
		{9, 20, own, frame.ClusterScope},
		{0, 1<<32 - 1, 0xd, frame.ClusterScope},
	} {
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: b.l, Upper: b.u}, Scope: b.scope, Socket: frame.SocketAddr{Node: b.node}, Key: uint32(i)})
	}
	tab.Remove(Binding{Range: frame.Range{Type: 100, Lower: 9, Upper: 20}, Socket: frame.SocketAddr{Node: own}, Key: 4})
	for _, c := range []struct {
		l, u uint32
		want []frame.NodeAddr
	}{
		{0, 0, []frame.NodeAddr{0xd}},
		{5, 6, []frame.NodeAddr{remote1, remote2, 0xd}},
		{6, 6, []frame.NodeAddr{remote2, 0xd}},
		{6, 7, []frame.NodeAddr{remote1, remote2, 0xd}},
		{7, 9, []frame.NodeAddr{own, remote1, remote2, 0xd}},
		{11, 1<<32 - 1, []frame.NodeAddr{own, 0xd}},
		{1<<32 - 1, 1<<32 - 1, []frame.NodeAddr{0xd}},
	} {
		if got := tab.Nodes(nil, frame.Range{Type: 100, Lower: c.l, Upper: c.u}); !slices.Equal(got, c.want) {
			t.Errorf("%d-%d: got %v, want %v", c.l, c.u, got, c.want)
		}
	}
	if got := tab.Nodes(nil, frame.Range{Type: 101, Upper: 9}); got != nil {
		t.Errorf("another type: got %v, want none", got)
	}
}

// A memo answers for the table as it is, of another range too, and keeps no more
// than it may.
//
// Proves: names.rules
func TestRecallNodes(t *testing.T) {
	tab := NewTable(own)
	bind := func(n uint32) Binding {
		return Binding{Range: single(100, n%2), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Node: frame.NodeAddr(1 + n)}}
	}
	var m NodesMemo
	for n := range uint32(2*maxMemoNodes + 20) {
		for range 2 { // told, and remembered
			for _, r := range []frame.Range{{Type: 100, Upper: 9}, single(100, 0), single(100, 1), {Type: 100, Upper: 9}} {
				if got, want := tab.RecallNodes(&m, nil, r), tab.Nodes(nil, r); !slices.Equal(got, want) {
					t.Fatalf("%d nodes: %v: got %v, want %v", n, r, got, want)
				}
				if got, want := tab.RecallNodes(&m, nil, r), tab.Nodes(nil, r); !slices.Equal(got, want) {
					t.Fatalf("%d nodes: %v again: got %v, want %v", n, r, got, want)
				}
			}
		}
		if len(m.nodes) > maxMemoNodes {
			t.Fatalf("%d nodes kept", len(m.nodes))
		}
		tab.Insert(bind(n)) // the next call is for the same range
	}
}

// One port bound many times, and many ports: each once, and without memory where the
// ports themselves have room.
//
// Proves: names.cost
func TestLocalReceiversOfMany(t *testing.T) {
	tab := NewTable(own)
	for i := range uint32(30_000) {
		tab.Insert(Binding{Range: frame.Range{Type: 100, Lower: i % 7, Upper: 9}, Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: 1 + i%30, Node: own}, Key: i})
		tab.Insert(Binding{Range: single(101, i), Scope: frame.ClusterScope, Socket: frame.SocketAddr{Port: 30_000 - i, Node: own}})
	}
	room := make([]uint32, 0, 64)
	few := frame.Range{Type: 100, Upper: 9}
	got := tab.LocalReceivers(room, few, true)
	if len(got) != 30 || got[0] != 1 || got[29] != 30 {
		t.Errorf("got %v, want 1 to 30", got)
	}
	if n := testing.AllocsPerRun(3, func() { tab.LocalReceivers(room, few, true) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	got = tab.LocalReceivers(room, frame.Range{Type: 101, Upper: 1 << 31}, true)
	if len(got) != 30_000 || got[0] != 1 || got[29_999] != 30_000 {
		t.Errorf("got %d ports, want 30000", len(got))
	}
}
