// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// LocalReceivers appends to dst the ports of this node bound to a range that
// overlaps r, each once, ascending. A message from another node reaches cluster
// bindings only. Source: docs/spec/05-naming.md §5.2.
func (t *Table) LocalReceivers(dst []uint32, r frame.Range, remote bool) []uint32 {
	s := t.services[r.Type]
	if s == nil {
		return dst
	}
	i, ok := s.find(t.self)
	if !ok {
		return dst
	}
	start := len(dst)
	s.shares[i].ranges.visit(r.Lower, r.Upper, func(b *bound) bool {
		for e := range b.own.each {
			if remote && e.scope != frame.ClusterScope || e.port == 0 {
				continue
			}
			if len(dst) == cap(dst) {
				dst = roomier(dst, start)
			}
			dst = append(dst, e.port)
		}
		return true
	})
	return distinct(dst, start)
}

// distinct sorts a from start on and drops repetitions there.
func distinct(a []uint32, start int) []uint32 {
	slices.Sort(a[start:])
	return a[:start+len(slices.Compact(a[start:]))]
}

// roomier makes room in a, which is full: by dropping repetitions behind start, and
// where these are not the most of it by growing, so that seldom either is needed.
func roomier(a []uint32, start int) []uint32 {
	a = distinct(a, start)
	if len(a)-start > (cap(a)-start)/2 {
		a = slices.Grow(a, cap(a))
	}
	return a
}

// Nodes appends to dst the nodes with a binding that overlaps r, of whatever scope,
// each once, ascending; the own node is one of them. It costs a search for each node
// that has bindings of the type, however many these are.
// Source: docs/spec/05-naming.md §5.2.
func (t *Table) Nodes(dst []frame.NodeAddr, r frame.Range) []frame.NodeAddr {
	s := t.services[r.Type]
	if s == nil {
		return dst
	}
	for _, h := range s.shares {
		if b := h.ranges.first(r.Lower); b != nil && b.r.Lower <= r.Upper {
			dst = append(dst, h.node)
		}
	}
	return dst
}

// A NodesMemo is what a sender's last call of RecallNodes found, so that the next one
// for the same range costs no search as long as the table is the same. The zero value
// is empty. It keeps up to 256 nodes, 1 KiB; of more it keeps none.
type NodesMemo struct {
	known   bool
	r       frame.Range
	version uint64
	nodes   []frame.NodeAddr
}

// maxMemoNodes is the most nodes that a NodesMemo keeps.
const maxMemoNodes = 256

// RecallNodes is Nodes with a memory of the last call.
func (t *Table) RecallNodes(m *NodesMemo, dst []frame.NodeAddr, r frame.Range) []frame.NodeAddr {
	if m.known && m.version == t.version && m.r == r {
		return append(dst, m.nodes...)
	}
	start := len(dst)
	dst = t.Nodes(dst, r)
	if len(dst)-start > maxMemoNodes {
		*m = NodesMemo{}
	} else {
		*m = NodesMemo{true, r, t.version, append(m.nodes[:0], dst[start:]...)}
	}
	return dst
}
