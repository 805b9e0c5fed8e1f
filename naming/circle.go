// SPDX-License-Identifier: Apache-2.0

package naming

// A lane says in which circle a link stands: each binding is in up to three.
type lane uint8

const (
	inTurn    lane = iota // of all who are bound to the same range
	inOwnTurn             // of those of them that are the own node's
	ofNode                // of all bindings of a node, oldest first
	lanes
)

// A link joins an entry to its neighbours in one circle.
type link struct{ next, prev *entry }

// A circle is a ring of entries, one of which is its head.
//
//	    head
//	     │
//	┌──► d ──► c ──► b ──► a ──┐    next
//	└──────────────────────────┘
//
// Joining, leaving and passing the head on each cost a few steps, however many
// there are.
type circle struct {
	head *entry // nil when empty
	n    int32
	lane lane
}

// join puts e at the end: in front of the head, where a round ends.
func (c *circle) join(e *entry) {
	l := &e.links[c.lane]
	if c.head == nil {
		l.next, l.prev, c.head = e, e, e
	} else {
		h := &c.head.links[c.lane]
		l.next, l.prev = c.head, h.prev
		h.prev.links[c.lane].next = e
		h.prev = e
	}
	c.n++
}

// joinFirst puts e at the end and makes it the head: a new one is next, everybody
// else keeps the turn.
func (c *circle) joinFirst(e *entry) {
	c.join(e)
	c.head = e
}

// leave takes e out. If it was the head the next one is.
func (c *circle) leave(e *entry) {
	l := &e.links[c.lane]
	l.prev.links[c.lane].next = l.next
	l.next.links[c.lane].prev = l.prev
	if c.head == e {
		c.head = l.next
	}
	if c.n--; c.n == 0 {
		c.head = nil
	}
	*l = link{}
}

// advance passes the head on.
func (c *circle) advance() { c.head = c.head.links[c.lane].next }

// each yields all entries, from the head on.
func (c *circle) each(yield func(*entry) bool) {
	for e, i := c.head, c.n; i > 0; e, i = e.links[c.lane].next, i-1 {
		if !yield(e) {
			return
		}
	}
}
