// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// admit decides whether a message may reach the link it came on: not while contact
// is being lost or made, nor before what went before it on the other link. It is
// where the two ends of a node pair notice each other's synchronising and failover,
// and where those end. Of the link protocol p is the message's own view.
// Source: docs/spec/03-discovery-and-node.md §4.3.
//
// Complex: the checks are those of the specification, in its order, which matters.
//
//gocyclo:ignore
func (e *Engine) admit(now time.Duration, l *link, m frame.Message, p *frame.LinkMessage) bool {
	n := l.n
	if n.contact == UpUp && m.User() != frame.UserTunnel {
		return true
	}
	linkUp := p == nil || p.IsState()
	switch n.contact {
	case UpComing:
		if !l.IsUp() || !linkUp {
			return true
		}
		n.contact = n.contact.after(peerEstablished)
	case DownLeaving:
		if linkUp || p.RedundantLink() {
			return false
		}
		n.contact = n.contact.after(peerLost)
		return true
	case LeavingDown:
		return false
	case DownDown:
		return true
	}
	if p == nil && l.Expected().Distance(m.Seq()) > flowctl.MaxWindow {
		return true // it came before, or too early: the link drops it
	}
	o := other(n, l)
	t, err := frame.ParseTunnel(m)
	tunnel := p == nil && err == nil
	if tunnel && t.Type() == frame.TunnelFailover && t.Count() <= flowctl.MaxTunnelled && l.IsUp() {
		e.failoverSeen(now, l, o, t) // a link that is not up yet takes nothing over
	}
	if n.contact == FailingOver && l.IsUp() {
		if l.Expected().After(n.syncPoint) {
			e.failoverEnds(now, n, l)
		}
		return true
	}
	if o == nil || !o.IsUp() {
		return true
	}
	synch := tunnel && t.Type() == frame.TunnelSynch
	if synch && m.Seq() == l.First() {
		if !e.synchSeen(now, l, t) {
			return false
		}
	}
	if n.contact == Synching {
		return e.synching(now, l, o, p != nil || synch)
	}
	return true
}

// failoverSeen notes a packet that shows the peer to have taken the other link down.
func (e *Engine) failoverSeen(now time.Duration, l, o *link, t frame.Tunnel) {
	n := l.n
	if o != nil && !o.IsReset() {
		o.FailAs(flowctl.PeerFailover)
		e.after(now, o)
		e.reapFailed(now)
	}
	if n.contact != FailingOver {
		e.halfFailover(now, l, o)
	}
	if end := t.Seq() + frame.Seq(t.Count()-1); end.Before(n.syncPoint) {
		n.syncPoint = end
	}
}
