// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// When one of two links fails, each end sends what it still had on it, in tunnel
// messages over the other: the survivor. There the packets keep their numbers, so
// that the receiving end takes each once and in order, behind what it had.
//
//	failed link:   … 7 8 │ 9 10 11 …          survivor: … tunnel(9) tunnel(10) tunnel(11) …
//	      acknowledged ──┘ └ sent or waiting  receiver: 9 came before, 10, 11 are delivered
//
// Until the last of them has come the failed link stays down at both ends. What there is no
// chunk for is sent later, and what is sent after it waits: see SendFailover.
// Source: docs/spec/02-link.md §10.2, docs/spec/03-discovery-and-node.md §5.4, §5.5.

// An failoverReceiver is the receiving end of a failed link, at the survivor: what still comes
// through the tunnel has its turn there.
type failoverReceiver struct {
	flowctl.FailoverReceiver
	joins  flowctl.Reassembly // fragments of the failed link's messages
	pieces flowctl.Pieces     // of a packet too large for the survivor
}

// syncPointAhead is a number no tunnelled packet reaches: the end of a failover whose
// packets have not come.
const syncPointAhead = 32766

// failover moves what a link that went down still had to the survivor.
func (e *Engine) failover(now time.Duration, n *node, l *link) {
	t := n.slots[0]
	t.SynchEnd()
	n.contact = n.contact.after(synchEnd)
	n.syncPoint = t.Expected() + syncPointAhead
	h := t.inherit()
	h.Begin(l.Link)
	h.joins, l.joins = l.joins, flowctl.Reassembly{}
	err := t.SendFailover(now, l.Link)
	l.disinherit()
	if err != nil {
		e.loseUnackedOn(n, l) // before the link forgets it
	}
	l.RestartQuietly(now)
	l.FailoverBegin()
	n.contact = n.contact.after(failoverBegin)
	if err != nil {
		t.Fail() // the node would wait for what is missing, which no later try would send
	}
	e.resume(now, t)
	e.after(now, t)
}

// halfFailover follows a peer whose link failed while ours never was up, or is down
// already: there is nothing to move.
func (e *Engine) halfFailover(now time.Duration, t, o *link) {
	n := t.n
	if !t.IsUp() {
		return
	}
	t.SynchEnd()
	n.contact = n.contact.after(synchEnd)
	n.syncPoint = t.Expected() + syncPointAhead
	if t.SendHalfFailover(now, o.peerBearer()) != nil {
		t.Fail() // it asks for too many
	}
	t.inherit().BeginEmpty(e.first(), &e.pool)
	if o != nil {
		o.FailoverBegin()
	}
	n.contact = n.contact.after(failoverBegin)
	e.resume(now, t)
	e.after(now, t)
}

// failoverEnds lets the failed link come up again.
func (e *Engine) failoverEnds(now time.Duration, n *node, survivor *link) {
	n.contact = n.contact.after(failoverEnd)
	survivor.disinherit()
	if o := other(n, survivor); o != nil {
		o.FailoverEnd()
		e.arm(o)
	}
}

// first is the number of a link's first packet.
func (e *Engine) first() frame.Seq { return max(e.cfg.FirstSeq, 1) }

// peerBearer is the bearer of a link as the peer numbers it; 0 without a link.
func (l *link) peerBearer() uint8 {
	if l == nil {
		return 0
	}
	return l.PeerBearer()
}

// inherit makes the link the survivor of a failover.
func (l *link) inherit() *failoverReceiver {
	l.disinherit()
	l.failoverReceiver = &failoverReceiver{}
	return l.failoverReceiver
}

// disinherit drops what the link still had of another one.
func (l *link) disinherit() {
	if l.failoverReceiver != nil {
		l.failoverReceiver.Clear()
		l.failoverReceiver.joins.Clear()
		l.failoverReceiver = nil
	}
}

// tunnelled takes a tunnel message that has its turn on the survivor.
func (e *Engine) tunnelled(now time.Duration, l *link, m frame.Message, in *netdev.Buffer) {
	t, err := frame.ParseTunnel(m)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	h := l.failoverReceiver
	switch {
	case t.Type() == frame.TunnelSynch:
		return // its content was delivered on the link it speaks of
	case t.Count() > syncPointAhead: // the end of such a failover would lie behind its beginning
		e.drop(DropMalformed)
		return
	case h == nil:
		return
	}
	inner, in, err := h.inner(t, in)
	switch {
	case err != nil:
		e.drop(dropOf(err))
		return
	case inner.Bytes() == nil: // there are more pieces
		return
	}
	switch h.HandlePacket(inner, in) {
	case flowctl.Deliver:
		e.inherited(now, l, h, inner, in)
		for l.failoverReceiver == h && h.Deferring() && l.IsUp() {
			p, ok := h.Next()
			if !ok {
				break
			}
			e.inherited(now, l, h, p.Message, p.Buffer())
			p.Release()
		}
	case flowctl.Dropped:
		e.drop(DropOrder)
	}
}

// inherited takes a packet out of the tunnel that has its turn. A tunnel message in it
// speaks of how the links stood before.
func (e *Engine) inherited(now time.Duration, l *link, h *failoverReceiver, m frame.Message, in *netdev.Buffer) {
	if m.User() != frame.UserTunnel {
		e.deliver(now, l, &h.joins, m, in)
	}
}

// inner returns the packet that a tunnel message carries, or none while pieces of
// it are missing.
func (h *failoverReceiver) inner(t frame.Tunnel, in *netdev.Buffer) (frame.Message, *netdev.Buffer, error) {
	if _, _, pieces := t.Piece(); !pieces {
		m, err := t.Inner()
		return m, in, err
	}
	m, err := h.pieces.Add(t)
	return m, nil, err
}
