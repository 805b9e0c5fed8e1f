// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A barrier keeps a sender's multicast messages in order, at one receiving socket, when
// the sender changes between broadcast and unicast copies, which may overtake each
// other. It marks the first message of the new method, and sends a marked twin without
// data by the old one, ahead of it.
//
//	old way   … 4  5 (6')
//	new way              6  7  8 …     6 and what follows by the new way is held
//	                                   until 6' shows that 5 has come
//
// A twin that does not come, for a receiver that was bound in between gets but one, is
// waited for until barrierLife. Source: docs/spec/04-broadcast.md §6.1.
type barrier struct {
	senders map[frame.SocketAddr]*heldSender // those that have messages here
	began   uint64                           // senders so far
	count   int                              // messages
	bytes   int                              // of all messages, and what keeping each costs
}

// A heldSender has messages that wait, in the order they came. The first is marked, for
// what stands before a mark goes on.
type heldSender struct {
	from  frame.SocketAddr
	order uint64 // the sender's among those of its barrier, by age
	held  flowctl.Queue[heldMulticast]
}

// A heldMulticast is a message that waits; it lies in memory of its own.
type heldMulticast struct {
	frame.Payload
	at time.Duration
}

// size is what a message counts against the socket's limits.
func (h *heldMulticast) size() int { return len(h.Bytes()) + recordCost }

// Limits of a barrier. What waits may go on in one turn, so it is limited in number, too; and
// each sender's for itself, so that a fast one does not end the waiting of others.
const (
	barrierLife = 5 * time.Second
	maxHeld     = 1024        // messages of one sender that wait at one socket
	maxHeldAll  = 4 * maxHeld // of all senders
)

// barriers are the sockets at which messages wait.
type barriers struct {
	ports []*Port
	next  time.Duration // when to look for what has waited long enough, at the latest
}

// receiveMulticast takes another node's message to a range for one of the sockets.
func (e *Engine) receiveMulticast(now time.Duration, p frame.Payload, in *netdev.Buffer, port *Port) {
	if port.barrier == nil && !p.Syn() {
		e.takeMulticast(p, in, port)
		return
	}
	q := port.heldOf(p.From())
	switch {
	case q == nil && p.Syn():
		e.holdMulticast(now, p, port)
	case q == nil:
		e.takeMulticast(p, in, port)
	case q.held.At(0).SrcDroppable() == p.SrcDroppable():
		e.holdMulticast(now, p, port)
	case !p.Syn():
		e.takeMulticast(p, in, port)
	default:
		e.takeMulticast(port.unhold(q), nil, port)
		e.takeMulticast(p, in, port)
		for q.held.Len() > 0 && !q.held.At(0).Syn() {
			e.takeMulticast(port.unhold(q), nil, port)
		}
		e.letGo(port, q)
	}
}

// takeMulticast puts a message into a socket's queue, unless it is a twin.
func (e *Engine) takeMulticast(p frame.Payload, in *netdev.Buffer, port *Port) {
	switch {
	case p.Error() != frame.OK:
		e.count.Twins++
	case !e.enqueue(p, in, port, p.Reroute()):
		e.drop(DropOverload)
	}
}

// heldOf is the sender's messages that wait, or nil.
func (p *Port) heldOf(from frame.SocketAddr) *heldSender {
	if p.barrier == nil {
		return nil
	}
	return p.barrier.senders[from]
}

// unhold takes out a sender's first message.
func (p *Port) unhold(q *heldSender) frame.Payload {
	h := q.held.Pop()
	p.barrier.bytes -= h.size()
	p.barrier.count--
	p.recount()
	return h.Payload
}

// holdMulticast makes a message wait. Where too much does, the sender's go on as they
// came.
func (e *Engine) holdMulticast(now time.Duration, p frame.Payload, port *Port) {
	b, q := port.barrier, port.heldOf(p.From())
	if b == nil {
		b = &barrier{}
	}
	h := heldMulticast{p, now}
	if q != nil && q.held.Len() >= maxHeld || b.count >= maxHeldAll || b.bytes+h.size() > port.ReceiveLimit || !port.Account.Affords(h.size()) {
		e.breakBarrier(port, p.From())
		e.takeMulticast(p, nil, port)
		return
	}
	m, err := frame.Parse(slices.Clone(p.Bytes()))
	if err != nil {
		return // it was parsed before
	}
	h.Message = m
	if port.barrier == nil {
		b.senders = map[frame.SocketAddr]*heldSender{}
		port.barrier = b
		e.barriers.ports = append(e.barriers.ports, port)
	}
	if q == nil {
		b.began++
		q = &heldSender{from: p.From(), order: b.began}
		b.senders[q.from] = q
	}
	q.held.Push(h)
	b.bytes += h.size()
	b.count++
	port.recount()
	e.barriers.next = min(e.barriers.next, now+barrierLife)
}

// breakBarrier lets all of a sender's messages go on as they came.
func (e *Engine) breakBarrier(port *Port, from frame.SocketAddr) {
	e.count.BarrierBroken++
	q := port.heldOf(from)
	if q == nil {
		return
	}
	for q.held.Len() > 0 {
		e.takeMulticast(port.unhold(q), nil, port)
	}
	e.letGo(port, q)
}

// letGo forgets a sender of which nothing waits any more, and a barrier without senders.
func (e *Engine) letGo(port *Port, q *heldSender) {
	if q.held.Len() > 0 {
		return
	}
	delete(port.barrier.senders, q.from)
	if len(port.barrier.senders) == 0 {
		port.barrier = nil
		e.barriers.remove(port)
	}
}

func (b *barriers) remove(port *Port) {
	if i := slices.Index(b.ports, port); i >= 0 {
		b.ports = slices.Delete(b.ports, i, i+1)
	}
}

// breakBarriers looks for messages that have waited long enough.
func (e *Engine) breakBarriers(now time.Duration) {
	e.eachBarrier(func(q *heldSender) bool { return now-q.held.At(0).at >= barrierLife })
	e.barriers.next = flowctl.Never
	for _, port := range e.barriers.ports {
		for _, q := range port.barrier.senders {
			e.barriers.next = min(e.barriers.next, q.held.At(0).at+barrierLife)
		}
	}
}

// openBarriers ends the waiting of what a node has sent, with which contact is lost.
func (e *Engine) openBarriers(n *node) {
	e.eachBarrier(func(q *heldSender) bool { return q.from.Node == n.addr })
}

// eachBarrier breaks the barriers of the senders that are meant, at each socket the oldest
// first.
func (e *Engine) eachBarrier(meant func(*heldSender) bool) {
	for _, port := range slices.Clone(e.barriers.ports) {
		var broken []*heldSender
		for _, q := range port.barrier.senders {
			if meant(q) {
				broken = append(broken, q)
			}
		}
		slices.SortFunc(broken, func(a, b *heldSender) int { return cmp.Compare(a.order, b.order) })
		for _, q := range broken {
			e.breakBarrier(port, q.from)
		}
	}
}
