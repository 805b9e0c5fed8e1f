// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A Namer gives the text of a node, by its address: its identity.
type Namer func(stack.NodeAddr) string

// Names returns the Namer of a node and those that it knows.
func Names(own stack.NodeAddr, id stack.Identity, peers []admin.Peer) Namer {
	known := map[stack.NodeAddr]string{own: identity(id, own)}
	for _, p := range peers {
		known[p.Node] = identity(p.Identity, p.Node)
	}
	return func(a stack.NodeAddr) string {
		if s, ok := known[a]; ok {
			return s
		}
		return a.String()
	}
}

// identity is a node's identity as text, of one that has told none its address, and
// nothing of one that has neither yet.
func identity(id stack.Identity, a stack.NodeAddr) string {
	switch {
	case id != stack.Identity{}:
	case a == 0:
		return ""
	default:
		return a.String()
	}
	return printable.Prefix(id.String(), 32)
}

// typesInRow is the number of rows that a kernel spreads types over.
// Source: docs/spec/10-management.md §3.
const typesInRow = 1024

// Sorted returns the bindings in the order in which a kernel tells them.
func Sorted(all []stack.Binding) []stack.Binding {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b stack.Binding) int {
		return cmp.Or(cmp.Compare(a.Range.Type%typesInRow, b.Range.Type%typesInRow), cmp.Compare(a.Range.Type, b.Range.Type),
			cmp.Compare(a.Range.Lower, b.Range.Lower))
	})
	return all
}

// NameTable writes what "tipc nametable show" prints.
func NameTable(w io.Writer, all []stack.Binding, of Namer) {
	const row = "%-10v %-10v %-10v %-8s %-10v "
	fmt.Fprintf(w, row+"%-33s\n", "Type", "Lower", "Upper", "Scope", "Port", "Node")
	for _, b := range Sorted(all) {
		fmt.Fprintf(w, row+"%s\n", b.Range.Type, b.Range.Lower, b.Range.Upper, scope(b.Scope), b.Socket.Port, of(b.Socket.Node))
	}
}

// NameTableJSON is the same as JSON.
func NameTableJSON(all []stack.Binding, of Namer) Array {
	rows := Array{}
	for _, b := range Sorted(all) {
		rows = append(rows, Object{
			{"type", b.Range.Type},
			{"lower", b.Range.Lower},
			{"upper", b.Range.Upper},
			{"scope", scope(b.Scope)},
			{"port", b.Socket.Port},
			{"node", of(b.Socket.Node)},
		})
	}
	return rows
}

func scope(s stack.Scope) string {
	switch s {
	case stack.NodeScope:
		return "node"
	case stack.ClusterScope:
		return "cluster"
	}
	return "zone"
}
