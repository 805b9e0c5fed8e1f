// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// Links fail in the midst of other work: a message that a member is sent finds no room, an
// update of names no place in a queue. What follows from that changes what such work
// walks over: the members of a group, the connections to a node, the bindings in the
// table. So a link that fails is only noted, and carries nothing from then on; its node
// is dealt with at the end of the turn, by reapFailed:
//
//	HandleFrame, HandleTimeout … ──► sends, walks ──(a link fails)──► noted
//	                                     │                              │
//	                                     └── done ──► reapFailed ──► linkDown: failover, or lost
//
// Until then a sender that meets the link is blocked, see mayTry; it is called again when
// it is clear whether another link carries its messages.

// noteFailed has reapFailed deal with a link that has gone down.
func (e *Engine) noteFailed(l *link) { e.failed = append(e.failed, l) }

// reapFailed deals with the links that have failed, and with those that fail meanwhile. It is
// called where nothing is walked over, and nowhere else.
func (e *Engine) reapFailed(now time.Duration) {
	if len(e.failed) > 0 {
		e.reap(now)
	}
}

func (e *Engine) reap(now time.Duration) {
	for i := 0; i < len(e.failed); i++ {
		l := e.failed[i]
		e.failed[i] = nil
		e.linkDown(now, l)
		e.after(now, l)
	}
	e.failed = e.failed[:0]
}

// ending reports whether contact with the node is lost, or will be at the end of the turn.
func (n *node) ending() bool {
	if !n.up() {
		return true
	}
	for _, l := range n.links {
		if l != nil && l.IsUp() {
			return false
		}
	}
	return true
}
