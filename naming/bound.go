// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"cmp"
	"slices"

	"github.com/utipc/utipc/frame"
)

// An entry is one binding in the table.
type entry struct {
	who
	scope  frame.Scope
	serial uint64 // its place in the order in which the table's bindings came
	bound  *bound
	links  [ringKinds]link
}

// A who tells the bindings of one range apart.
type who struct {
	port uint32
	node frame.NodeAddr
	key  uint32
}

func (e *entry) socket() frame.SocketAddr { return frame.SocketAddr{Port: e.port, Node: e.node} }

func (e *entry) binding() Binding {
	return Binding{Range: e.bound.r, Scope: e.scope, Socket: e.socket(), Key: e.key}
}

// A bound is one exact range and who is bound to it: at least one.
type bound struct {
	r            frame.Range
	turn         frame.NodeAddr // node and
	port         uint32         // port of all.head, here so that a lookup need not go there
	created      uint64         // the serial of the binding that made it
	all          ring
	own          ring
	bindingIndex *bindingIndex // nil while few are bound
}

// A bindingIndex finds a binding among many of one range, counts them by node, and knows their order.
type bindingIndex struct {
	find  map[who]*entry
	count map[frame.NodeAddr]int32
	room  int32    // bindings that the maps had room for
	order []*entry // oldest first; the first is there, others may have left
	left  int      // of them
}

// few is the number of bindings of one range that are looked through one by one.
const few = 8

func newBound(r frame.Range, created uint64) *bound {
	return &bound{r: r, created: created, all: ring{ringKind: inTurn}, own: ring{ringKind: inOwnTurn}}
}

// find returns the binding of w, or nil.
func (b *bound) find(w who) *entry {
	if b.bindingIndex != nil {
		return b.bindingIndex.find[w]
	}
	for e := range b.all.each {
		if e.who == w {
			return e
		}
	}
	return nil
}

// has reports whether a node has bindings here.
func (b *bound) has(n frame.NodeAddr) bool {
	if b.bindingIndex != nil {
		return b.bindingIndex.count[n] > 0
	}
	for e := range b.all.each {
		if e.node == n {
			return true
		}
	}
	return false
}

// join adds a binding; it has the next turn.
func (b *bound) join(e *entry, own bool) {
	e.bound = b
	b.all.joinFirst(e)
	if own {
		b.own.joinFirst(e)
	}
	b.turned()
	if c := b.bindingIndex; c != nil {
		c.find[e.who] = e
		c.count[e.node]++
		c.room = max(c.room, b.all.n)
		c.order = append(c.order, e)
	} else if b.all.n > few {
		b.gather()
	}
}

// leave takes a binding away.
func (b *bound) leave(e *entry, own bool) {
	b.all.leave(e)
	if own {
		b.own.leave(e)
	}
	if b.all.n > 0 {
		b.turned()
	}
	c := b.bindingIndex
	if c == nil {
		return
	}
	delete(c.find, e.who)
	if c.count[e.node]--; c.count[e.node] == 0 {
		delete(c.count, e.node)
	}
	if b.all.n <= c.room/4 {
		b.gather() // a map does not shrink
		return
	}
	for c.left++; len(c.order) > 0 && c.order[0].gone(); c.left-- {
		c.order[0] = nil
		c.order = c.order[1:]
	}
	if c.left > len(c.order)/2 {
		c.order = slices.DeleteFunc(slices.Clone(c.order), (*entry).gone)
		c.left = 0
	}
}

// gone reports whether the entry was taken out of the table.
func (e *entry) gone() bool { return e.links[inTurn].next == nil }

// gather makes the index anew, or does away with it where few are left.
func (b *bound) gather() {
	b.bindingIndex = nil
	if b.all.n <= few {
		return
	}
	c := &bindingIndex{find: make(map[who]*entry, b.all.n), count: map[frame.NodeAddr]int32{}, room: b.all.n}
	c.order = b.byAge()
	for _, e := range c.order {
		c.find[e.who] = e
		c.count[e.node]++
	}
	b.bindingIndex = c
}

// byAge returns the bindings, oldest first.
func (b *bound) byAge() []*entry {
	return slices.SortedFunc(b.all.each, func(a, b *entry) int { return cmp.Compare(a.serial, b.serial) })
}

// since calls f for the bindings with at least this serial, oldest first, until it returns
// false, and reports whether it never did.
func (b *bound) since(serial uint64, f func(*entry) bool) bool {
	var order []*entry
	if b.bindingIndex != nil {
		order = b.bindingIndex.order
	} else {
		order = b.byAge()
	}
	i, _ := slices.BinarySearchFunc(order, serial, func(e *entry, serial uint64) int { return cmp.Compare(e.serial, serial) })
	for _, e := range order[i:] {
		if !e.gone() && !f(e) {
			return false
		}
	}
	return true
}

func (b *bound) turned() { b.port, b.turn = b.all.head.port, b.all.head.node }

// oldest returns the binding that has been in the table longest.
func (b *bound) oldest() *entry {
	if b.bindingIndex != nil {
		return b.bindingIndex.order[0]
	}
	old := b.all.head
	for e := range b.all.each {
		if e.serial < old.serial {
			old = e
		}
	}
	return old
}
