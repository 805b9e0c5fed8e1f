// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// Nodes stub, replaced at merge.
func (t *Table) Nodes(dst []frame.NodeAddr, r frame.Range) []frame.NodeAddr {
	for b := range t.Overlapping(r) {
		if !slices.Contains(dst, b.Socket.Node) {
			dst = append(dst, b.Socket.Node)
		}
	}
	slices.Sort(dst)
	return dst
}
