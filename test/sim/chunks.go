// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// checkChunks is invariant 5: every chunk is free or held by somebody known, and
// queues are within their limits.
func (l *life) checkChunks() {
	w := l.n.w
	l.round++
	held := 0
	mark := func(b *netdev.Buffer) bool {
		if l.marks[b.Index()] != l.round {
			l.marks[b.Index()] = l.round
			held++
		}
		return true
	}
	l.eng.Buffers(mark)
	for i, d := range l.dev {
		d.buffers(mark)
		for _, o := range l.out[i] {
			mark(o.buf)
		}
	}
	if free, total := l.arena.Free(), l.arena.Total(); free+held != total {
		w.violate(5, "node %d: %d chunks free and %d held of %d", l.n.idx, free, held, total)
	}
	nodes := 0
	for range l.eng.Neighbours {
		nodes++
	}
	for p, link := range l.links {
		l.checkQueues(p.Node, link)
	}
	if nodes > engine.MaxNodes {
		w.violate(5, "node %d knows %d nodes", l.n.idx, nodes)
	}
	for _, p := range l.ports {
		if !w.cfg.Hostile && (p.e.Queued() != p.bytes || p.e.Pending() != len(p.queue)) {
			w.violate(5, "port %v counts %d bytes in %d messages, not %d in %d", p.e.Addr(), p.e.Queued(), p.e.Pending(), p.bytes, len(p.queue))
		}
		limit := p.cfg.ReceiveLimit
		if limit == 0 {
			limit = engine.DefaultReceiveLimit
		}
		if p.e.Queued() > limit<<frame.System {
			w.violate(5, "port %v has %d bytes", p.e.Addr(), p.e.Queued())
		}
	}
	if l.eng.Ports() != len(l.ports) {
		w.violate(5, "node %d has %d sockets, not %d", l.n.idx, l.eng.Ports(), len(l.ports))
	}
}

func (l *life) checkQueues(to frame.NodeAddr, link *flowctl.Link) {
	w, in := l.n.w, link.Look()
	sum := in.Tunnelled
	for imp, n := range in.Waiting {
		sum += n
		if most := link.Limit(frame.Importance(imp)) + w.extra(link, frame.Importance(imp)); n < 0 || n > most {
			w.violate(5, "node %d to %v: %d packets wait at importance %d, limit %d", l.n.idx, to, n, imp, most)
		}
	}
	if link.Backlog() > 0 && link.Open() && (!l.eng.Holding() || link.Backlog() > engine.HoldFull) {
		w.violate(4, "node %d to %v: %d packets wait with %d of %d unacknowledged", l.n.idx, to, link.Backlog(), link.Unacked(), link.Window())
	}
	if sum != link.Backlog() {
		w.violate(5, "node %d to %v: %d packets wait, counted %d", l.n.idx, to, link.Backlog(), sum)
	}
	if link.Unacked() > w.window() {
		w.violate(5, "node %d to %v: %d packets unacknowledged, window %d", l.n.idx, to, link.Unacked(), w.window())
	}
	if in.Deferred > flowctl.MaxWindow || in.DeferredBytes > flowctl.MaxDeferredBytes || in.DeferredBytes < 0 ||
		in.Deferred == 0 && in.DeferredBytes != 0 {
		w.violate(5, "node %d from %v: %d packets deferred, %d bytes", l.n.idx, to, in.Deferred, in.DeferredBytes)
	}
	if !link.IsUp() && (link.Unacked() > 0 || link.Backlog() > 0 || in.Deferred > 0) {
		w.violate(5, "node %d to %v: a link in state %v has %d unacknowledged, %d waiting, %d deferred packets",
			l.n.idx, to, link.State(), link.Unacked(), link.Backlog(), in.Deferred)
	}
}

// extra is by how many packets a queue may exceed its limit: by one message, and where
// there are two links by one more.
func (w *world) extra(link *flowctl.Link, imp frame.Importance) int {
	n := frame.MaxMessage / (frame.MinMTU - frame.IntLen)
	if link.MTU() > 2*frame.MinMTU {
		n = frame.MaxMessage/(link.MTU()-2*frame.IntLen) + 1
	}
	if imp == frame.System && len(w.nets) > 1 {
		n++ // what shows the peer where a link ended
	}
	return n
}
