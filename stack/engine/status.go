// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"iter"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// A LinkStatus is how the link to another node stands.
type LinkStatus struct {
	Peer      frame.NodeAddr
	Identity  frame.Identity
	Name      string // empty while the link never was up
	Up        bool
	MTU       int // bytes
	Tolerance time.Duration
	Window    int // packets that may be unacknowledged
	Unacked   int // packets that are
	Backlog   int // packets that wait behind them
	flowctl.Counters
}

// Peers yields the links to all nodes known, by address.
func (e *Engine) Peers() iter.Seq[LinkStatus] {
	return func(yield func(LinkStatus) bool) {
		for _, n := range e.nodes {
			if l := n.link; l != nil && !yield(LinkStatus{
				Peer: n.addr, Identity: n.identity, Name: n.linkName, Up: l.IsUp(),
				MTU: l.MTU(), Tolerance: l.Tolerance(), Window: l.Window(),
				Unacked: l.Unacked(), Backlog: l.Backlog(), Counters: l.Counters,
			}) {
				return
			}
		}
	}
}

// Overlapping yields every binding that overlaps r.
func (e *Engine) Overlapping(r frame.Range) iter.Seq[naming.Binding] { return e.table.Overlapping(r) }

// SetTolerance changes how long the peer of a link may be silent and tells the
// peer; bounds as flowctl.Link.SetTolerance. Errors: ErrUnreachable when there is
// no link to the node.
func (e *Engine) SetTolerance(now time.Duration, to frame.NodeAddr, tolerance time.Duration) error {
	n := e.byAddr[to]
	if n == nil || n.link == nil {
		return ErrUnreachable
	}
	n.link.SetTolerance(now, tolerance)
	e.after(now, n)
	e.arm(n.link.Deadline())
	return nil
}

// SetPriority changes the priority of a link, 1 to 31, and tells the peer, which
// resets the link. Errors: ErrUnreachable when there is no link to the node.
func (e *Engine) SetPriority(now time.Duration, to frame.NodeAddr, priority uint8) error {
	n := e.byAddr[to]
	if n == nil || n.link == nil {
		return ErrUnreachable
	}
	n.link.SetPriority(now, priority)
	e.after(now, n)
	return nil
}
