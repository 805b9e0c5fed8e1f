// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A Timer is one thing an engine waits for: the next discovery message of a
// bearer, or, with a Node, the next tick of the link to it.
type Timer struct {
	Bearer int
	Node   frame.NodeAddr // 0: discovery
	Due    time.Duration
}

// Timers yields what the engine waits for. It is for replays, which serve each
// timer as late as a recorded node did; HandleTimeout serves all that are due.
func (e *Engine) Timers(yield func(Timer) bool) {
	for i, b := range e.bearers {
		if !yield(Timer{Bearer: i, Due: b.next}) {
			return
		}
	}
	for _, n := range e.nodes {
		for i, l := range n.links {
			if l != nil && !yield(Timer{Bearer: i, Node: n.addr, Due: l.Deadline()}) {
				return
			}
		}
	}
}

// HandleTimer serves one timer, due or not. It is harmless for a node that is gone.
func (e *Engine) HandleTimer(now time.Duration, t Timer) {
	if t.Node == 0 {
		b := e.bearers[t.Bearer]
		b.next = now
		e.discoveryTimeout(now, b)
	} else if n := e.byAddr[t.Node]; n != nil && n.links[t.Bearer] != nil {
		l := n.links[t.Bearer]
		l.Tick(now)
		e.after(now, l)
	}
}
