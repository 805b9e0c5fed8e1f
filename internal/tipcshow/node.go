// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// Nodes writes what "tipc node list" prints: the other nodes, by address.
func Nodes(w io.Writer, peers []admin.Peer) {
	fmt.Fprintf(w, "%-32s %-8s %s\n", "Node Identity", "Hash", "State")
	for _, p := range ByAddress(peers) {
		fmt.Fprintf(w, "%-32s %08x %s\n", identity(p.Identity, p.Node), uint32(p.Node), upDown(p.Up))
	}
}

// NodesJSON is the same as JSON, and beside it what went to and fro.
func NodesJSON(peers []admin.Peer) Array {
	rows := Array{}
	for _, p := range ByAddress(peers) {
		rows = append(rows, Object{
			{"identity", identity(p.Identity, p.Node)}, {"hash", hash(p.Node)}, {"state", upDown(p.Up)}, {"version", p.Version},
		})
	}
	return rows
}

// ByAddress returns the nodes in the order of their addresses.
func ByAddress(peers []admin.Peer) []admin.Peer {
	return slices.SortedFunc(slices.Values(peers), func(a, b admin.Peer) int { return cmp.Compare(a.Node, b.Node) })
}

// Identity writes what "tipc node get identity" prints.
func Identity(w io.Writer, id stack.Identity, a stack.NodeAddr) {
	fmt.Fprintf(w, "%-32s %s\n%-33s%08x\n", "Node Identity", "Hash", identity(id, a), uint32(a))
}

// IdentityJSON is the same as JSON.
func IdentityJSON(id stack.Identity, a stack.NodeAddr) Array {
	return Array{Object{{"identity", identity(id, a)}, {"hash", hash(a)}}}
}

func hash(a stack.NodeAddr) string { return fmt.Sprintf("%08x", uint32(a)) }

func upDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
