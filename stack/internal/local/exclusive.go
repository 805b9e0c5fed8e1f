// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// An exclusiveSocket is an engine's socket that may be bound exclusively.
type exclusiveSocket interface {
	BindExclusive(now time.Duration, r frame.Range) (*engine.Holding, error)
	Unbind(now time.Duration, r frame.Range, scope frame.Scope) error
	SettleNames() error
	Bindings() []naming.Binding
	Lost() *engine.NameTakenError
}

// bindExclusive binds a socket exclusively. With waits it waits before until this node knows what the others
// have bound, and afterwards until they know of this, and nobody goes before it. Errors
// are bare.
func (n *Node) bindExclusive(ctx context.Context, s exclusiveSocket, r frame.Range, waits bool) error {
	if waits {
		if err := n.waitPublished(ctx); err != nil {
			return err
		}
	}
	h, err := n.claimName(s, r)
	if err != nil {
		return err
	}
	if !waits {
		return nil
	}
	err = n.waitPublished(ctx)
	n.loop.Lock()
	defer n.loop.Unlock()
	if lost := h.Settle(); lost != nil {
		return lost
	}
	if err != nil {
		now := n.loop.Now()
		s.Unbind(now, r, frame.ClusterScope)
		n.pollOnce(now, false)
	}
	return err
}

// rebindExclusive is bindExclusive of a socket that there is, to what a program names.
func (n *Node) rebindExclusive(w *writeHalf, s exclusiveSocket, addr net.Addr, scope frame.Scope, waits bool) error {
	r, err := backend.Bindable(addr)
	if err == nil && scope == frame.NodeScope {
		err = backend.ErrExclusiveScope
	}
	if err == nil {
		err = n.bindExclusive(context.Background(), s, r, waits)
	}
	if err != nil {
		return backend.OpError("bind", w.network, w.local, addr, err)
	}
	return nil
}

// lostOr is the error of a call that reads: that the socket has lost a name, or else err.
func lostOr(lost *engine.NameTakenError, err error) error {
	if lost != nil && err == nil {
		return lost
	}
	return err
}

// claimName is bindExclusive as far as this node knows; without waits it is settled by SettleNames.
func (n *Node) claimName(s exclusiveSocket, r frame.Range) (*engine.Holding, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if n.closing {
		return nil, net.ErrClosed
	}
	now := n.loop.Now()
	h, err := s.BindExclusive(now, r)
	n.pollOnce(now, false)
	return h, err
}

// settleNames has a socket hold what it has bound without waiting.
func (n *Node) settleNames(s exclusiveSocket) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	return s.SettleNames()
}

// SettleNames is hosting.SettleNames.
func (c *Packet) SettleNames() error { return c.n.settleNames(c.port) }

// SettleNames is hosting.SettleNames.
func (l *Listener) SettleNames() error { return l.n.settleNames(l.l) }

// A nameLoser is a socket that may lose a name.
type nameLoser interface{ loseName() }

// deliverLost tells the sockets that have lost a name.
func (n *Node) deliverLost() {
	n.losers = n.eng.TakeLost(n.losers[:0])
	for i, s := range n.losers {
		s.(nameLoser).loseName()
		n.losers[i] = nil
	}
}

// loseName implements nameLoser: calls that wait return the error, and an active port is closed.
func (c *Packet) loseName() {
	p, lost := c.active, c.port.Lost()
	switch {
	case lost == nil: // bound again meanwhile
	case p == nil:
		c.wake(c.n, true)
	case p.a.Apart:
		p.a.Err = lost
		c.shut()
	default:
		p.ail(lost)
	}
}

// loseName implements nameLoser.
func (l *Listener) loseName() { l.wake(l.n, true) }

// Lost is hosting.Lost.
func (c *Packet) Lost() *engine.NameTakenError { return c.n.lost(c.port) }

// Lost is hosting.Lost.
func (l *Listener) Lost() *engine.NameTakenError { return l.n.lost(l.l) }

func (n *Node) lost(s exclusiveSocket) *engine.NameTakenError {
	n.loop.Lock()
	defer n.loop.Unlock()
	return s.Lost()
}

// Bound is hosting.Bound.
func (c *Packet) Bound() int { return c.n.bound(c.port) }

// Bound is hosting.Bound.
func (l *Listener) Bound() int { return l.n.bound(l.l) }

func (n *Node) bound(s exclusiveSocket) int {
	n.loop.Lock()
	defer n.loop.Unlock()
	return len(s.Bindings())
}
