// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/utipc/utipc/frame"

// Nodes are found by identity, too. Anybody can claim any, so several may say the
// same: those are chained by address, and the first of them is found.

// identify makes id the identity of a node that has none.
func (e *Engine) identify(n *node, id frame.Identity) {
	n.identity = id
	at := e.identities[id]
	if at == nil || n.addr < at.addr {
		n.twin = at
		e.identities[id] = n
		return
	}
	for at.twin != nil && at.twin.addr < n.addr {
		at = at.twin
	}
	n.twin, at.twin = at.twin, n
}

// unidentify makes a node not be found by its identity any more.
func (e *Engine) unidentify(n *node) {
	at := e.identities[n.identity]
	switch {
	case at != n:
		for at.twin != n {
			at = at.twin
		}
		at.twin = n.twin
	case n.twin != nil:
		e.identities[n.identity] = n.twin
	default:
		delete(e.identities, n.identity)
	}
	n.twin = nil
}

// reidentify follows a node that says it has another identity now.
func (e *Engine) reidentify(n *node, id frame.Identity) {
	if n.identity != id {
		e.unidentify(n)
		e.identify(n, id)
		if n.crypt != nil {
			e.giveKey(n)
		}
	}
}
