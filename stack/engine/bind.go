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
	if r.Type < naming.FirstUser && !p.closed {
		return ErrReserved
	}
	return p.bind(now, r, scope)
}

// bind is Bind for any service type.
func (p *Port) bind(now time.Duration, r frame.Range, scope frame.Scope) error {
	e := p.e
	switch {
	case p.closed:
		return ErrClosed
	case r.Lower > r.Upper:
		return ErrRange
	case e.table.Count(e.addr) >= naming.MaxBindings:
		return ErrTooManyBindings
	}
	if scope != frame.NodeScope {
		scope = frame.ClusterScope
	}
	b := naming.Binding{Range: r, Scope: scope, Socket: p.Addr(), Key: e.cfg.Chance.Key(p.number)}
	p.bindings = append(p.bindings, b)
	e.publish(now, b)
	return nil
}

// Unbind takes back one binding to exactly this range and scope, the newest.
// Errors: ErrNotBound.
func (p *Port) Unbind(now time.Duration, r frame.Range, scope frame.Scope) error {
	if scope != frame.NodeScope {
		scope = frame.ClusterScope
	}
	for i, b := range slices.Backward(p.bindings) {
		if b.Range == r && b.Scope == scope {
			p.bindings = slices.Delete(p.bindings, i, i+1)
			p.e.withdraw(now, b)
			return nil
		}
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
	var data [frame.MaxReturned]byte
	for {
		n, r, ok := p.Read(data[:])
		if !ok {
			break
		}
		p.e.returnUnread(now, p, r, data[:n])
	}
	p.data = ring{}
}

// retire withdraws the socket's names and its number.
func (p *Port) retire(now time.Duration) {
	p.closed = true
	for _, b := range p.bindings {
		p.e.withdraw(now, b)
	}
	p.bindings = nil
	delete(p.e.ports, p.number)
	p.e.lastPort = nil
}

// publish enters an own binding and tells the nodes that are up.
func (e *Engine) publish(now time.Duration, b naming.Binding) {
	e.table.Insert(b)
	if b.Scope == frame.ClusterScope {
		it := frame.NameItem{Range: b.Range, Port: b.Socket.Port, Key: b.Key}
		e.tell(now, it, false, e.pub.Publish(it))
	}
}

// withdraw removes an own binding and tells the nodes that are up.
func (e *Engine) withdraw(now time.Duration, b naming.Binding) {
	e.table.Remove(b)
	if b.Scope == frame.ClusterScope {
		it := frame.NameItem{Range: b.Range, Port: b.Socket.Port, Key: b.Key}
		e.tell(now, it, true, e.pub.Withdraw(it))
	}
}

// tell sends an update to every node that is up, by unicast, behind the bulk on
// the same link, so that it cannot overtake it.
func (e *Engine) tell(now time.Duration, it frame.NameItem, withdrawal bool, seq frame.Seq) {
	for _, n := range e.nodes {
		if n.up() && !e.cfg.NoUpdates {
			f := frame.NamesFields{Withdrawal: withdrawal, NonLegacy: true, UpdateSeq: seq}
			l := n.slots[0]
			if e.sendNames(now, l, f, it) {
				e.after(now, l)
			} else {
				e.giveUp(now, n)
			}
		}
	}
}

// sendBulk sends a node that has come up every binding it should know, at least
// the one that says this node is there.
// Source: docs/spec/03-discovery-and-node.md §6.1.
func (e *Engine) sendBulk(now time.Duration, n *node) {
	items, next := e.pub.Bulk()
	l := n.slots[0]
	limit := (l.PacketLimit() - frame.IntLen) / frame.NameItemLen
	for part := range slices.Chunk(items, max(1, limit)) {
		f := frame.NamesFields{Bulk: true, NonLegacy: true, BcastAckInvalid: true}
		if items = items[len(part):]; len(items) == 0 {
			f.LastBulk, f.UpdateSeq = true, next
		}
		if !e.sendNames(now, l, f, part...) {
			l.Fail() // it has only just come up
			return
		}
	}
}

// sendNames sends a name message. It reports false if that cannot be done: the node
// would have another table from then on, so it must be given up.
func (e *Engine) sendNames(now time.Duration, l *link, f frame.NamesFields, items ...frame.NameItem) bool {
	f.Prev, f.Orig, f.Dest = e.addr, e.addr, l.n.addr
	b := e.message(frame.IntLen+len(items)*frame.NameItemLen, frame.Control)
	if b == nil {
		return false
	}
	f.Append(b.Bytes()[frame.EthernetLen:frame.EthernetLen], items...)
	return e.transmit(now, l, b, frame.System) == nil
}

// handleNames brings a node's bulk and updates into the table.
func (e *Engine) handleNames(now time.Duration, n *node, m frame.Message) {
	names, err := frame.ParseNames(m)
	if err != nil || names.Orig() != n.addr {
		e.drop(DropNames)
		return
	}
	fits := true
	err = n.inbox.Handle(names, func(it frame.NameItem, withdrawal bool) { fits = e.applyName(n, it, withdrawal) && fits })
	if err != nil || !fits {
		e.drop(DropLimit)
		e.giveUp(now, n)
	}
}

// applyName enters or removes one binding of a node, unless it breaks a rule:
// the reserved types would fake nodes and links for local programs. It reports false
// when the node has as many as it may have.
func (e *Engine) applyName(n *node, it frame.NameItem, withdrawal bool) (fits bool) {
	b := naming.Binding{
		Range: it.Range, Scope: frame.ClusterScope,
		Socket: frame.SocketAddr{Port: it.Port, Node: n.addr}, Key: it.Key,
	}
	own := frame.Range{Type: naming.NodeState, Lower: uint32(n.addr), Upper: uint32(n.addr)}
	switch {
	case it.Range.Lower > it.Range.Upper,
		it.Range.Type < naming.FirstUser && it.Range != own:
		e.drop(DropNames)
	case withdrawal:
		if !e.table.Remove(b) {
			e.drop(DropNames)
		}
	case e.table.Count(n.addr) >= naming.MaxBindings:
		return false
	default:
		e.table.Insert(b)
	}
	return true
}
