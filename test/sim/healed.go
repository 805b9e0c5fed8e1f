// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// checkHealed is what must hold when the faults have been over for long.
func (w *world) checkHealed() {
	for _, n := range w.nodes {
		l := n.life
		for _, p := range l.ports {
			if p.waiting != nil {
				w.violate(4, "node %d: %v still waits for %v: %v", n.idx, p.e.Addr(), p.waiting.Node, p.waiting)
			}
		}
		if w.cfg.Hostile {
			continue
		}
		up := 0
		for p := range l.eng.Neighbours {
			to, c, link := p.Node, p.Contact, p.Link
			switch {
			case w.byAddr[to] == nil:
				w.violate(0, "node %d knows %v, which does not exist", n.idx, to)
			case c != engine.UpUp || link == nil || !link.IsUp():
				w.violate(0, "node %d and %v: contact %q after the faults ended", n.idx, to, c)
			case !link.Idle() || link.Look().Deferred > 0:
				w.violate(0, "node %d to %v: %d unacknowledged, %d waiting, %d deferred packets after the faults ended",
					n.idx, to, link.Unacked(), link.Backlog(), link.Look().Deferred)
			default:
				up++
			}
		}
		if up != len(w.nodes)-1 {
			w.violate(0, "node %d has %d links up, want %d", n.idx, up, len(w.nodes)-1)
		}
		for _, p := range l.ports {
			if p.e.Pending() > 0 {
				w.violate(0, "port %v has %d unread messages", p.e.Addr(), p.e.Pending())
			}
		}
		if len(l.out) > 0 {
			w.violate(0, "node %d has %d frames for its device", n.idx, len(l.out))
		}
		w.checkTable(l)
	}
}

// checkTable compares a node's table with the union of all that is bound.
func (w *world) checkTable(l *life) {
	l.checkTold()
	var want []row
	for _, n := range w.nodes {
		a := uint32(n.addr)
		want = append(want, row{naming.NodeState, a, a, uint8(frame.ClusterScope), 0, a})
		if n != l.n {
			want = append(want, row{naming.LinkState, a, a, uint8(frame.NodeScope), 0, uint32(l.n.addr)})
		}
		for _, p := range n.life.ports {
			for _, b := range p.binds {
				if b.scope == frame.ClusterScope || n == l.n {
					want = append(want, row{b.r.Type, b.r.Lower, b.r.Upper, uint8(b.scope), p.e.Addr().Port, a})
				}
			}
		}
	}
	slices.SortFunc(want, row.compare)
	if got := l.rows(); !slices.Equal(got, want) {
		w.violate(7, "node %d: the table is not the union of what is bound:\ngot  %v\nwant %v", l.n.idx, got, want)
	}
}

// shutdown closes every socket, then has all nodes leave, and looks whether
// everything is as it was at the start.
func (w *world) shutdown() {
	for _, n := range w.nodes {
		for len(n.life.ports) > 0 {
			n.life.ports[0].close()
		}
	}
	w.clock.run(w.clock.now+10*time.Second, w.stop)
	if w.stop() {
		return
	}
	if !w.cfg.Hostile {
		for _, n := range w.nodes {
			w.checkTable(n.life)
		}
	}
	w.closing = true
	for _, n := range w.nodes {
		l := n.life
		if n := l.eng.Unsent(); n > 0 && !w.cfg.Hostile {
			w.violate(0, "node %d leaves with %d packets unacknowledged", l.n.idx, n)
		}
		l.call(nothing, func() { l.eng.Leave(w.clock.now) })
		l.finish()
	}
	w.clock.run(w.clock.now+5*time.Second, w.stop)
	for _, n := range w.nodes {
		l := n.life
		if len(l.dev.tx)+len(l.out) == 0 || l.eng.Deadline() == flowctl.Never {
			l.dev.close()
			for _, o := range l.out {
				o.buf.Release()
			}
			l.out = nil
		}
		if free, total := l.arena.Free(), l.arena.Total(); free != total {
			w.violate(5, "node %d: %d of %d chunks free after everything was closed", n.idx, free, total)
		}
		if n := l.eng.Ports(); n != 0 {
			w.violate(5, "node %d: %d sockets after everything was closed", l.n.idx, n)
		}
	}
}
