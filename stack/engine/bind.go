// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// What binding can find.
var (
	// ErrReserved means a service type below 64.
	ErrReserved = errors.New("engine: service types below 64 are reserved")
	// ErrRange means a range whose lower bound is above its upper bound.
	ErrRange = errors.New("engine: lower bound above upper bound")
	// ErrNotBound means the socket has no such binding.
	ErrNotBound = errors.New("engine: not bound to that range")
	// ErrTooManyBindings means the node has as many bindings as it may have.
	ErrTooManyBindings = errors.New("engine: too many bindings in this node")
	// ErrClosed means the socket is closed.
	ErrClosed = errors.New("engine: socket closed")
)

// Bind binds the socket to a range and tells the cluster, or for NodeScope only
// this node. The same range may be bound again, and by others. Errors:
// ErrReserved, ErrRange, ErrTooManyBindings, ErrClosed.
func (p *Port) Bind(now time.Duration, r frame.Range, scope frame.Scope) error {
	if err := p.mayBind(now, r); err != nil {
		return err
	}
	return p.bind(now, r, scope)
}

// mayBind reports why the socket cannot be bound to a range by its owner. Errors: as of Bind.
func (p *Port) mayBind(now time.Duration, r frame.Range) error {
	if r.Type < naming.FirstUser && !p.closed {
		return ErrReserved
	}
	return p.canBind(now, r)
}

// canBind is mayBind for any service type.
func (p *Port) canBind(now time.Duration, r frame.Range) error {
	e := p.e
	switch {
	case p.closed:
		return ErrClosed
	case r.Lower > r.Upper:
		return ErrRange
	case e.table.Count(e.addr) >= naming.MaxBindings:
		e.logLimited(now, &e.tooManyNames, TooManyNames, e.addr)
		return ErrTooManyBindings
	}
	return nil
}

// bind is Bind for any service type.
func (p *Port) bind(now time.Duration, r frame.Range, scope frame.Scope) error {
	if err := p.canBind(now, r); err != nil {
		return err
	}
	if scope != frame.NodeScope {
		scope = frame.ClusterScope
	}
	p.addBinding(now, naming.Binding{Range: r, Scope: scope, Socket: p.Addr(), Key: p.key(r)})
	return nil
}

// addBinding makes a binding the socket's.
func (p *Port) addBinding(now time.Duration, b naming.Binding) {
	p.settleLost(b.Range)
	p.bindings = append(p.bindings, b)
	p.e.services.row(b.Range.Type)
	p.e.publish(now, b)
}

// Unbind takes back one binding to exactly this range and scope, the newest. A name that was lost, see
// Lost, is none any more, and taking it back is no error. Errors: ErrNotBound.
func (p *Port) Unbind(now time.Duration, r frame.Range, scope frame.Scope) error {
	if scope != frame.NodeScope {
		scope = frame.ClusterScope
	}
	for i, b := range slices.Backward(p.bindings) {
		if b.Range == r && b.Scope == scope {
			p.bindings = slices.Delete(p.bindings, i, i+1)
			p.settleLost(r)
			p.e.withdraw(now, b)
			return nil
		}
	}
	if p.settleLost(r) {
		return nil
	}
	return ErrNotBound
}

// Bindings returns what the socket is bound to, oldest first.
func (p *Port) Bindings() []naming.Binding { return p.bindings }

// Close withdraws the socket's names and returns what waits unread to those who
// sent it, as far as they want it back.
func (p *Port) Close(now time.Duration) {
	if p.closed {
		return
	}
	p.retire(now)
	p.returnUnacked(now)
	p.ManualAck = false
	var data [frame.MaxReturned]byte
	for {
		n, r, ok := p.Read(data[:])
		if !ok {
			break
		}
		p.e.returnUnread(now, p, r, data[:n], frame.NoPort)
	}
	p.data = ring{}
}

// retire withdraws the socket's names and its number.
func (p *Port) retire(now time.Duration) {
	p.closed = true
	p.settleLost(frame.Range{})
	p.e.withdrawAll(now, p.bindings)
	p.bindings = nil
	if p.barrier != nil {
		p.barrier = nil
		p.e.barriers.remove(p)
	}
	if p.e.ports[p.number] == p { // else a member of a group has the number, see GroupConfig.Of
		delete(p.e.ports, p.number)
	}
	p.e.lastPort = nil
	if p.Requests {
		p.e.requests.leave(p)
	}
	if !p.connected() {
		p.e.suspect(now, p.Addr())
	}
	p.exit()
}
