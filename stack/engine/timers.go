// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A Timer is one thing an engine waits for: the next discovery message of a
// bearer; with a Node, the next tick of the link to it; or what sockets wait for.
type Timer struct {
	Bearer  int
	Node    frame.NodeAddr // 0: discovery
	Sockets SocketTimer    // not 0: neither of the two
	Due     time.Duration
}

// A SocketTimer is what sockets wait for.
type SocketTimer uint8

const (
	// Alarms are requests that are sent again or given up, probes, and what
	// connections owe: Due is the first of them.
	Alarms SocketTimer = 1 + iota
	// Calls are those to users of connections in the engine, which are due at once, and
	// the ends of subscriptions.
	Calls
)

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
	if yield(Timer{Sockets: Alarms, Due: e.alarms.first()}) {
		yield(Timer{Sockets: Calls, Due: min(e.conns.deadline(), e.subscribersDue())})
	}
}

// HandleTimer serves one timer, due or not; of the alarms those of the first one's
// time. It is harmless for a node that is gone.
func (e *Engine) HandleTimer(now time.Duration, t Timer) {
	switch {
	case t.Sockets == Alarms:
		if first := e.alarms.first(); first != flowctl.Never {
			e.alarms.ringUntil(now, max(now, first))
		}
		e.reapFailed(now)
		return
	case t.Sockets == Calls:
		e.serveConns(now)
		e.serveSubscribers(now)
		e.reapFailed(now)
		return
	}
	if t.Node == 0 {
		b := e.bearers[t.Bearer]
		b.next = now
		e.discoveryTimeout(now, b)
	} else if n := e.byAddr[t.Node]; n != nil && n.links[t.Bearer] != nil {
		if n.crypt != nil {
			e.serveKeys(now) // a kernel does it with the timer of a node, before its links tick
		}
		l := n.links[t.Bearer]
		l.Tick(now)
		e.after(now, l)
		e.inspect(now, l)
		e.replace(now, l)
	}
	e.reapFailed(now)
}
