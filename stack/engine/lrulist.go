// SPDX-License-Identifier: Apache-2.0

package engine

// A lruList is nodes without contact, those who lost it first in front. A node is on
// one roll at most: of strangers, or of nodes that once were up.
type lruList struct {
	first, last *node
	n           int
}

// enrol puts a node that has no contact, from now on, at the end of its roll.
func (e *Engine) enrol(n *node) {
	e.strike(n)
	r := &e.gone
	if !n.everUp {
		r = &e.strangers
	}
	n.lruList, n.before, n.behind = r, r.last, nil
	if r.last != nil {
		r.last.behind = n
	} else {
		r.first = n
	}
	r.last = n
	r.n++
}

// strike takes a node off its roll, if it is on one.
func (e *Engine) strike(n *node) {
	r := n.lruList
	if r == nil {
		return
	}
	if n.before != nil {
		n.before.behind = n.behind
	} else {
		r.first = n.behind
	}
	if n.behind != nil {
		n.behind.before = n.before
	} else {
		r.last = n.before
	}
	r.n--
	n.lruList, n.before, n.behind = nil, nil, nil
}
