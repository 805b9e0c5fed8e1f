// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/utipc/utipc/frame"

// Numbers of bearers and links. Source: docs/spec/02-link.md §1,
// docs/spec/03-discovery-and-node.md §7.
const (
	MaxBearers = 3 // of a node
	maxLinks   = 2 // between two nodes
)

// Of a node's links that are up those of the highest priority carry what is sent:
// one has both slots, two have one each; a link of lower priority stands by.

// join gives a link that came up its part. Source: docs/spec/03-discovery-and-node.md §5.2.
func (n *node) join(l *link) {
	switch old := n.slots[0]; {
	case old == nil || l.Priority() > old.Priority():
		n.slots = [2]*link{l, l}
	case l.Priority() == old.Priority():
		n.slots[1] = l
	}
}

// choose gives out the slots anew, when a link is gone; the lower bearer has the
// first. Source: docs/spec/03-discovery-and-node.md §5.3.
func (n *node) choose() {
	n.slots = [2]*link{}
	for _, l := range n.links {
		switch {
		case l == nil || !l.IsUp():
		case n.slots[0] == nil || l.Priority() > n.slots[0].Priority():
			n.slots = [2]*link{l, l}
		case l.Priority() == n.slots[0].Priority():
			n.slots[1] = l
		}
	}
}

// route returns the link that carries what a socket sends, or nil when the node is
// not up. One socket's messages take one link, so that they stay in order.
func (n *node) route(port uint32) *link { return n.slots[port&1] }

// other returns the other link of a node, or nil.
func other(n *node, l *link) *link {
	for _, o := range n.links {
		if o != nil && o != l {
			return o
		}
	}
	return nil
}

// count is the number of links, up or not.
func (n *node) count() (c int) {
	for _, l := range n.links {
		if l != nil {
			c++
		}
	}
	return c
}

// up reports whether there is contact with the node.
func (n *node) up() bool { return n.slots[0] != nil }

// uses reports whether a link is one of those that carry messages.
func (n *node) uses(l *link) bool { return n.slots[0] == l || n.slots[1] == l }

// reach returns the node with an address if there is contact with it, or nil.
func (e *Engine) reach(a frame.NodeAddr) *node {
	if n := e.peer(a); n != nil && n.up() {
		return n
	}
	return nil
}
