// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A Copy is the binding table of one node, or what somebody says it should be.
type Copy struct {
	Node     frame.NodeAddr
	Bindings iter.Seq[Binding]
}

// A Difference is a binding of cluster scope that some tables have and others lack, or
// that one has twice.
type Difference struct {
	Binding Binding
	Lack    []frame.NodeAddr // whose table lacks it, in the order of the copies
	Twice   []frame.NodeAddr // whose table has it more than once
}

// String is the difference in one line.
func (d Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{%d, %d, %d} of port %d at %v, key %d:", d.Binding.Range.Type, d.Binding.Range.Lower, d.Binding.Range.Upper,
		d.Binding.Socket.Port, d.Binding.Socket.Node, d.Binding.Key)
	list := func(what string, nodes []frame.NodeAddr) {
		for i, n := range nodes {
			if i == 0 {
				fmt.Fprintf(&b, " %s", what)
			}
			fmt.Fprintf(&b, " %v", n)
		}
	}
	list("not at", d.Lack)
	list("twice at", d.Twice)
	return b.String()
}

// Audit compares the tables of nodes that are all in contact with each other, and
// returns what is not the same in all of them, by range, socket and key. Bindings of
// node scope are not compared: those are nobody else's business. With all tables equal
// it returns nil.
func Audit(copies []Copy) (all []Difference) {
	seen := map[Binding][]uint16{} // how often, in each copy
	for i, c := range copies {
		for b := range c.Bindings {
			if b.Scope != frame.ClusterScope {
				continue
			}
			n := seen[b]
			if n == nil {
				n = make([]uint16, len(copies))
				seen[b] = n
			}
			n[i] = min(n[i]+1, 2)
		}
	}
	for b, n := range seen { // in any order: what is found is sorted
		d := Difference{Binding: b}
		for i, c := range copies {
			switch n[i] {
			case 0:
				d.Lack = append(d.Lack, c.Node)
			case 2:
				d.Twice = append(d.Twice, c.Node)
			}
		}
		if d.Lack != nil || d.Twice != nil {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return compareBindings(a.Binding, b.Binding) })
	return all
}

// compareBindings orders bindings by range, socket and key.
func compareBindings(a, b Binding) int {
	return cmp.Or(
		cmp.Compare(a.Range.Type, b.Range.Type), cmp.Compare(a.Range.Lower, b.Range.Lower), cmp.Compare(a.Range.Upper, b.Range.Upper),
		cmp.Compare(a.Socket.Node, b.Socket.Node), cmp.Compare(a.Socket.Port, b.Socket.Port), cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Scope, b.Scope),
	)
}
