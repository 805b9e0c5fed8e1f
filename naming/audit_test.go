// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// audited is a copy of a node's table with the bindings given.
func audited(n frame.NodeAddr, all ...naming.Binding) naming.Copy {
	return naming.Copy{Node: n, Bindings: slices.Values(all)}
}

// Proves: names.audit
func TestAudit(t *testing.T) {
	bound := func(lower uint32, node frame.NodeAddr, key uint32) naming.Binding {
		return naming.Binding{
			Range: frame.Range{Type: 100, Lower: lower, Upper: lower + 1}, Scope: frame.ClusterScope,
			Socket: frame.SocketAddr{Port: 7, Node: node}, Key: key,
		}
	}
	a, b, c := bound(5, 1, 8), bound(5, 2, 8), bound(3, 1, 9)
	own := bound(4, 3, 1)
	own.Scope = frame.NodeScope
	for _, x := range []struct {
		name   string
		copies []naming.Copy
		want   []string
	}{
		{"none", nil, nil},
		{"equal, in another order", []naming.Copy{audited(1, a, b, c), audited(2, c, a, b)}, nil},
		{"node scope", []naming.Copy{audited(1, a), audited(3, a, own)}, nil},
		{"one lacks two", []naming.Copy{audited(1, a, b, c), audited(2, a), audited(3, c, b, a)}, []string{
			"{100, 3, 4} of port 7 at 1, key 9: not at 2",
			"{100, 5, 6} of port 7 at 2, key 8: not at 2",
		}},
		{"two lack one", []naming.Copy{audited(1), audited(3), audited(2, b)}, []string{"{100, 5, 6} of port 7 at 2, key 8: not at 1 3"}},
		{"twice", []naming.Copy{audited(1, a, a, a), audited(2, a), audited(3)}, []string{"{100, 5, 6} of port 7 at 1, key 8: not at 3 twice at 1"}},
		{"other key", []naming.Copy{audited(1, a), audited(2, bound(5, 1, 7))}, []string{
			"{100, 5, 6} of port 7 at 1, key 7: not at 1",
			"{100, 5, 6} of port 7 at 1, key 8: not at 2",
		}},
	} {
		var got []string
		for _, d := range naming.Audit(x.copies) {
			got = append(got, fmt.Sprint(d))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
	}
}

// A table as it is kept can be audited.
//
// Proves: names.audit
func TestAuditTables(t *testing.T) {
	x, y := naming.NewTable(1), naming.NewTable(2)
	for i := range uint32(50) {
		b := naming.Binding{
			Range: frame.Range{Type: 64 + i%3, Lower: i % 7, Upper: i%7 + i%2}, Scope: frame.ClusterScope,
			Socket: frame.SocketAddr{Port: i, Node: 1}, Key: i,
		}
		x.Insert(b)
		if i != 33 {
			y.Insert(b)
		}
	}
	got := naming.Audit([]naming.Copy{{Node: 1, Bindings: x.All()}, {Node: 2, Bindings: y.All()}})
	if len(got) != 1 || got[0].Binding.Key != 33 || !slices.Equal(got[0].Lack, []frame.NodeAddr{2}) {
		t.Errorf("got %v, want key 33 not at 2", got)
	}
}
