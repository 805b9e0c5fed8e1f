// SPDX-License-Identifier: Apache-2.0

package engine

import (
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
	held  []heldMulticast // in the order they came
	bytes int
}

// A heldMulticast is a message that waits; it lies in memory of its own.
type heldMulticast struct {
	frame.Payload
	at time.Duration
}

// Limits of a barrier.
const (
	barrierLife = 5 * time.Second
	maxHeld     = 1024 // messages that wait at one socket
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
	q := port.heldSyn(p.From())
	switch {
	case q < 0 && p.Syn():
		e.holdMulticast(now, p, port)
	case q < 0:
		e.takeMulticast(p, in, port)
	case port.barrier.held[q].SrcDroppable() == p.SrcDroppable():
		e.holdMulticast(now, p, port)
	case !p.Syn():
		e.takeMulticast(p, in, port)
	default:
		twin := port.unhold(q)
		e.takeMulticast(twin, nil, port)
		e.takeMulticast(p, in, port)
		e.followBarrier(port, p.From())
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

// heldSyn returns the place of the first marked message of a sender, or -1.
func (p *Port) heldSyn(from frame.SocketAddr) int {
	if p.barrier == nil {
		return -1
	}
	return slices.IndexFunc(p.barrier.held, func(h heldMulticast) bool { return h.Syn() && h.From() == from })
}

// unhold takes out a message that waits.
func (p *Port) unhold(i int) frame.Payload {
	b := p.barrier
	h := b.held[i]
	b.held = slices.Delete(b.held, i, i+1)
	b.bytes -= len(h.Bytes())
	p.recount()
	return h.Payload
}

// holdMulticast makes a message wait. Where too much does, the sender's go on as they
// came.
func (e *Engine) holdMulticast(now time.Duration, p frame.Payload, port *Port) {
	b := port.barrier
	if b == nil {
		b = &barrier{}
		port.barrier = b
		e.barriers.ports = append(e.barriers.ports, port)
	}
	if len(b.held) >= maxHeld || b.bytes+len(p.Bytes()) > port.ReceiveLimit || !port.Account.Affords(len(p.Bytes())) {
		e.breakBarrier(port, p.From())
		e.takeMulticast(p, nil, port)
		return
	}
	m, err := frame.Parse(slices.Clone(p.Bytes()))
	if err != nil {
		return // it was parsed before
	}
	b.held = append(b.held, heldMulticast{frame.Payload{Message: m}, now})
	b.bytes += len(m.Bytes())
	port.recount()
	e.barriers.next = min(e.barriers.next, now+barrierLife)
}

// followBarrier lets those of a sender's messages go on that wait behind no mark.
func (e *Engine) followBarrier(port *Port, from frame.SocketAddr) {
	for i := 0; i < len(port.barrier.held); {
		h := &port.barrier.held[i]
		switch {
		case h.From() != from:
			i++
		case h.Syn():
			e.emptied(port)
			return
		default:
			e.takeMulticast(port.unhold(i), nil, port)
		}
	}
	e.emptied(port)
}

// breakBarrier lets all of a sender's messages go on as they came.
func (e *Engine) breakBarrier(port *Port, from frame.SocketAddr) {
	e.count.BarrierBroken++
	for i := 0; i < len(port.barrier.held); {
		if port.barrier.held[i].From() != from {
			i++
			continue
		}
		e.takeMulticast(port.unhold(i), nil, port)
	}
	e.emptied(port)
}

// emptied forgets a barrier at which nothing waits any more.
func (e *Engine) emptied(port *Port) {
	if len(port.barrier.held) == 0 {
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
	e.eachBarrier(func(h *heldMulticast) bool { return h.Syn() && now-h.at >= barrierLife })
	e.barriers.next = flowctl.Never
	for _, port := range e.barriers.ports {
		for i := range port.barrier.held {
			e.barriers.next = min(e.barriers.next, port.barrier.held[i].at+barrierLife)
		}
	}
}

// openBarriers ends the waiting of what a node has sent, with which contact is lost.
func (e *Engine) openBarriers(n *node) {
	e.eachBarrier(func(h *heldMulticast) bool { return h.Orig() == n.addr })
}

// eachBarrier breaks the barriers of the senders of which a message is meant.
func (e *Engine) eachBarrier(meant func(*heldMulticast) bool) {
	for _, port := range slices.Clone(e.barriers.ports) {
		for port.barrier != nil {
			i := slices.IndexFunc(port.barrier.held, func(h heldMulticast) bool { return meant(&h) })
			if i < 0 {
				break
			}
			e.breakBarrier(port, port.barrier.held[i].From())
		}
	}
}
