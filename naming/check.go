// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"maps"
	"slices"

	"github.com/utipc/utipc/frame"
)

// Check looks whether all parts of the table agree, for tests and simulations: it
// takes as long as the table is large. The error names the first part that does not.
func (t *Table) Check() error {
	ranges, bindings := 0, 0
	if err := t.checkTypes(); err != nil {
		return err
	}
	for _, typ := range slices.Sorted(maps.Keys(t.services)) {
		s := t.services[typ]
		if len(s.all.blocks) == 0 {
			return fmt.Errorf("type %d: no ranges", typ)
		}
		if err := s.all.check(); err != nil {
			return fmt.Errorf("type %d: %w", typ, err)
		}
		wide, ofNodes := 0, 0
		for _, bl := range s.all.blocks {
			for _, b := range bl.bounds {
				if err := t.checkBound(b, typ); err != nil {
					return fmt.Errorf("type %d: %v: %w", typ, b.r, err)
				}
				ranges++
				bindings += int(b.all.n)
				if b.r.Lower < b.r.Upper {
					wide++
				}
				nodes := map[frame.NodeAddr]bool{}
				for e := range b.all.each {
					nodes[e.node] = true
				}
				ofNodes += len(nodes)
			}
		}
		if t.wide[typ] != wide {
			return fmt.Errorf("type %d: %d wide ranges, counted %d", typ, wide, t.wide[typ])
		}
		for i, h := range s.shares {
			if err := h.ranges.check(); err != nil {
				return fmt.Errorf("type %d, node %v: %w", typ, h.node, err)
			}
			if i > 0 && s.shares[i-1].node >= h.node || len(h.ranges.blocks) == 0 {
				return fmt.Errorf("type %d, node %v: share empty or out of order", typ, h.node)
			}
			for _, bl := range h.ranges.blocks {
				for _, b := range bl.bounds {
					if !b.has(h.node) {
						return fmt.Errorf("type %d, node %v: has a share of %v", typ, h.node, b.r)
					}
					ofNodes--
				}
			}
		}
		if ofNodes != 0 {
			return fmt.Errorf("type %d: %d ranges missing in the nodes' shares", typ, ofNodes)
		}
	}
	if ranges != len(t.ranges) || bindings != t.n {
		return fmt.Errorf("%d ranges with %d bindings, counted %d with %d", ranges, bindings, len(t.ranges), t.n)
	}
	for typ, n := range t.wide {
		if n <= 0 || t.services[typ] == nil {
			return fmt.Errorf("type %d: %d wide ranges counted", typ, n)
		}
	}
	return t.checkNodes()
}

// checkTypes is Check of the types in order.
func (t *Table) checkTypes() error {
	if err := t.types.check(); err != nil {
		return fmt.Errorf("types: %w", err)
	}
	types := 0
	for _, bl := range t.types.blocks {
		types += len(bl.bounds)
	}
	if types != len(t.services) {
		return fmt.Errorf("%d types in order, of %d", types, len(t.services))
	}
	return nil
}

// checkNodes compares the nodes' circles with the rest.
func (t *Table) checkNodes() error {
	for _, n := range slices.Sorted(maps.Keys(t.nodes)) {
		c := t.nodes[n]
		if c.n == 0 || c.ringKind != ofNode {
			return fmt.Errorf("node %v: %d bindings in ring %d", n, c.n, c.ringKind)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("node %v: %w", n, err)
		}
		last := uint64(0)
		for e := range c.each {
			if e.node != n || e.serial <= last || e.serial > t.serial || t.ranges[e.bound.r].bound != e.bound || e.bound.find(e.who) != e {
				return fmt.Errorf("node %v: %v is out of place", n, e.binding())
			}
			last = e.serial
		}
	}
	left := t.n
	for _, c := range t.nodes {
		left -= int(c.n)
	}
	if left != 0 {
		return fmt.Errorf("%d bindings are in no node's list", left)
	}
	return nil
}

// checkBound looks at one range of a type.
func (t *Table) checkBound(b *bound, typ uint32) error {
	h := rangeEntry{b, b.turn, b.port}
	if b.all.n > 1 {
		h = rangeEntry{bound: b}
	}
	switch head := b.all.head; {
	case b.all.n == 0 || b.r.Type != typ:
		return fmt.Errorf("%d are bound", b.all.n)
	case t.ranges[b.r] != h:
		return fmt.Errorf("entry %+v, want %+v", t.ranges[b.r], h)
	case b.turn != head.node || b.port != head.port:
		return fmt.Errorf("turn of %v:%d, want %v", b.turn, b.port, head.socket())
	case b.all.ringKind != inTurn || b.own.ringKind != inOwnTurn:
		return fmt.Errorf("rings %d, %d", b.all.ringKind, b.own.ringKind)
	case b.bindingIndex == nil && b.all.n > few:
		return fmt.Errorf("no index of %d", b.all.n)
	case b.bindingIndex != nil && (len(b.bindingIndex.find) != int(b.all.n) || b.bindingIndex.room < b.all.n || b.bindingIndex.room/4 >= b.all.n):
		return fmt.Errorf("an index of %d of %d, with room for %d", len(b.bindingIndex.find), b.all.n, b.bindingIndex.room)
	}
	if c := b.bindingIndex; c != nil {
		there := slices.DeleteFunc(slices.Clone(c.order), (*entry).gone)
		if !slices.Equal(there, b.byAge()) || c.order[0].gone() || c.left != len(c.order)-len(there) || c.left > len(there)+1 {
			return fmt.Errorf("an index of %d in an order of %d, of which %d have left", b.all.n, len(c.order), c.left)
		}
	}
	if err := b.all.check(); err != nil {
		return err
	}
	if err := b.own.check(); err != nil {
		return err
	}
	return t.checkEntries(b)
}

// checkEntries looks at the bindings of one range: each once, where it belongs, and counted.
func (t *Table) checkEntries(b *bound) error {
	whos, own, count := map[who]bool{}, b.own.n, map[frame.NodeAddr]int32{}
	for e := range b.all.each {
		if whos[e.who] || e.bound != b || e.serial < b.created || b.find(e.who) != e {
			return fmt.Errorf("%v is out of place", e.binding())
		}
		whos[e.who] = true
		if count[e.node]++; e.node == t.self {
			own--
		}
	}
	for e := range b.own.each {
		if e.node != t.self || !whos[e.who] {
			return fmt.Errorf("%v is not the own node's", e.binding())
		}
	}
	if own != 0 || b.bindingIndex != nil && !maps.Equal(count, b.bindingIndex.count) {
		return fmt.Errorf("counts %v, %d own ones", count, b.own.n)
	}
	return nil
}

// check looks whether the ring is closed both ways after n steps.
func (c *ring) check() error {
	if (c.head == nil) != (c.n == 0) {
		return fmt.Errorf("a ring of %d with head %p", c.n, c.head)
	}
	e := c.head
	for i := range c.n {
		l := e.links[c.ringKind]
		if l.next == nil || l.next.links[c.ringKind].prev != e || i < c.n-1 && l.next == c.head {
			return fmt.Errorf("a ring of %d is broken at %d", c.n, i)
		}
		e = l.next
	}
	if e != c.head {
		return fmt.Errorf("a ring of %d does not close", c.n)
	}
	return nil
}

// check looks at order, reach and fill of the blocks.
func (s *rangeSet) check() error {
	if len(s.ends) != len(s.blocks) {
		return fmt.Errorf("%d blocks with %d ends", len(s.blocks), len(s.ends))
	}
	var last *bound
	all := uint32(0)
	for k, bl := range s.blocks {
		if n := len(bl.bounds); n == 0 || n > blockLen || n != len(bl.spans) || s.mergeable(k) {
			return fmt.Errorf("block %d has %d bounds, %d spans", k, n, len(bl.spans))
		}
		reach := uint32(0)
		for i, b := range bl.bounds {
			reach, all = max(reach, b.r.Upper), max(all, b.r.Upper)
			if want := (span{b.r.Lower, reach}); bl.spans[i] != want {
				return fmt.Errorf("block %d, place %d: span %v, want %v", k, i, bl.spans[i], want)
			}
			if last != nil && (last.r.Lower > b.r.Lower || last.r.Lower == b.r.Lower && last.created <= b.created) {
				return fmt.Errorf("%v stands before %v", last.r, b.r)
			}
			last = b
		}
		if want := (span{last.r.Lower, all}); s.ends[k] != want {
			return fmt.Errorf("block %d: end %v, want %v", k, s.ends[k], want)
		}
	}
	return nil
}
