// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// A node with which contact is lost may have 65535 bindings. To take all of them out of the
// table at once would hold up everybody else, so they are condemned, and swept in parts:
//
//	Condemn ──► condemned ──(Sweep, a lookup that meets it, one like it is added)──► gone
//
// A condemned binding is never chosen, and one that the node publishes anew when it is back
// is another: subscribers are told that the old one is withdrawn before.
type condemned struct {
	until map[frame.NodeAddr]uint64 // serials up to which a node's bindings are condemned
	nodes []frame.NodeAddr          // of them, the next to be swept first
}

// isCondemned reports whether an entry is to go.
func (t *Table) isCondemned(e *entry) bool {
	return len(t.condemned.nodes) > 0 && e.serial <= t.condemned.until[e.node]
}

// Condemn has Sweep remove every binding that a node has now.
// Source: docs/spec/05-naming.md §4.
func (t *Table) Condemn(n frame.NodeAddr) {
	if t.nodes[n] == nil {
		return
	}
	c := &t.condemned
	if c.until == nil {
		c.until = map[frame.NodeAddr]uint64{}
	}
	if c.until[n] == 0 {
		c.nodes = append(c.nodes, n)
	}
	c.until[n] = t.serial
}

// Condemned reports whether there is something to Sweep.
func (t *Table) Condemned() bool { return len(t.condemned.nodes) > 0 }

// Sweep removes up to k condemned bindings, of each node in the order in which they came,
// and returns how many.
func (t *Table) Sweep(k int) (done int) {
	for done < k && t.Condemned() {
		if t.sweepOf(t.condemned.nodes[0]) {
			done++
		}
	}
	return done
}

// sweepOf removes the oldest condemned binding of a node, and reports whether there was one.
func (t *Table) sweepOf(n frame.NodeAddr) bool {
	if c := t.nodes[n]; c != nil && t.isCondemned(c.head) {
		t.discard(c.head)
		return true
	}
	if i := slices.Index(t.condemned.nodes, n); i >= 0 {
		t.condemned.nodes = slices.Delete(t.condemned.nodes, i, i+1)
		delete(t.condemned.until, n)
	}
	return false
}

// Purge removes every binding of a node, in the order in which they came. What it costs
// depends on their number, not on the table's.
func (t *Table) Purge(n frame.NodeAddr) {
	for t.Condemn(n); t.sweepOf(n); {
	}
}

// spare takes condemned bindings out of a lookup's way. It reports whether there was one: the
// lookup begins anew.
func (t *Table) spare(c Choice, a frame.Service) bool {
	b := c.bound
	if b == nil {
		b = t.ranges[a.Range()].bound // the only one there is, and has one binding
	}
	if b == nil {
		return false
	}
	e := b.all.head
	if c.own || !t.isCondemned(e) {
		return false
	}
	t.discard(e)
	return true
}
