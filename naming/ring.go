// SPDX-License-Identifier: Apache-2.0

package naming

// A ringKind says in which ring a link stands: each binding is in up to three.
type ringKind uint8

const (
	inTurn    ringKind = iota // of all who are bound to the same range
	inOwnTurn                 // of those of them that are the own node's
	ofNode                    // of all bindings of a node, oldest first
	ringKinds
)

// A link joins an entry to its neighbours in one ring.
type link struct{ next, prev *entry }

// A ring is a ring of entries, one of which is its head.
//
//	    head
//	     │
//	┌──► d ──► c ──► b ──► a ──┐    next
//	└──────────────────────────┘
//
// Joining, leaving and passing the head on each cost a few steps, however many
// there are.
type ring struct {
	head     *entry // nil when empty
	n        int32
	ringKind ringKind
}

// join puts e at the end: in front of the head, where a round ends.
func (c *ring) join(e *entry) {
	l := &e.links[c.ringKind]
	if c.head == nil {
		l.next, l.prev, c.head = e, e, e
	} else {
		h := &c.head.links[c.ringKind]
		l.next, l.prev = c.head, h.prev
		h.prev.links[c.ringKind].next = e
		h.prev = e
	}
	c.n++
}

// joinFirst puts e at the end and makes it the head: a new one is next, everybody
// else keeps the turn.
func (c *ring) joinFirst(e *entry) {
	c.join(e)
	c.head = e
}

// leave takes e out. If it was the head the next one is.
func (c *ring) leave(e *entry) {
	l := &e.links[c.ringKind]
	l.prev.links[c.ringKind].next = l.next
	l.next.links[c.ringKind].prev = l.prev
	if c.head == e {
		c.head = l.next
	}
	if c.n--; c.n == 0 {
		c.head = nil
	}
	*l = link{}
}

// advance passes the head on.
func (c *ring) advance() { c.head = c.head.links[c.ringKind].next }

// each yields all entries, from the head on.
func (c *ring) each(yield func(*entry) bool) {
	for e, i := c.head, c.n; i > 0; e, i = e.links[c.ringKind].next, i-1 {
		if !yield(e) {
			return
		}
	}
}
