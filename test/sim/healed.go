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
		for p := range l.eng.Neighbours {
			if w.byAddr[p.Node] == nil {
				w.violate(0, "node %d knows %v, which does not exist", n.idx, p.Node)
			}
		}
		up := 0
		for p, link := range l.links {
			switch {
			case p.Contact != engine.UpUp || !link.IsUp():
				w.violate(0, "node %d and %v, network %d: contact %q, link %v after the faults ended", n.idx, p.Node, p.net, p.Contact, link.State())
			case !link.Idle() || link.Look().Deferred > 0:
				w.violate(0, "node %d to %v, network %d: %d unacknowledged, %d waiting, %d deferred packets after the faults ended",
					n.idx, p.Node, p.net, link.Unacked(), link.Backlog(), link.Look().Deferred)
			default:
				up++
			}
		}
		if want := (len(w.nodes) - 1) * len(w.nets); up != want {
			w.violate(0, "node %d has %d links up, want %d", n.idx, up, want)
		}
		if n := l.eng.Unsent(); n > 0 {
			w.violate(0, "node %d: %d packets not acknowledged after the faults ended", l.n.idx, n)
		}
		for _, p := range l.ports {
			if p.e.Pending() > 0 {
				w.violate(0, "port %v has %d unread messages", p.e.Addr(), p.e.Pending())
			}
		}
		for net, out := range l.out {
			if len(out) > 0 {
				w.violate(0, "node %d has %d frames for its device %d", n.idx, len(out), net)
			}
		}
		w.checkTable(l)
	}
	if !w.cfg.Hostile {
		w.judgeCasts()
	}
}

// well reports whether all links are up, and nothing waits.
func (w *world) well() bool {
	for _, n := range w.nodes {
		if n.life == nil || n.life.eng.Unsent() > 0 {
			return false
		}
		up := 0
		for p, link := range n.life.links {
			if p.Contact == engine.UpUp && link.IsUp() && link.Idle() && link.Look().Deferred == 0 {
				up++
			}
		}
		if up != (len(w.nodes)-1)*len(w.nets) {
			return false
		}
		for _, p := range n.life.ports {
			if p.e.Pending() > 0 || p.job != nil {
				return false
			}
		}
	}
	return true
}

// checkTable compares a node's table with the union of all that is bound.
func (w *world) checkTable(l *life) {
	l.checkTold()
	var want []row
	for _, n := range w.nodes {
		a := uint32(n.addr)
		want = append(want, row{naming.NodeState, a, a, uint8(frame.ClusterScope), 0, a})
		if n == l.n {
			top := l.eng.TopologyAddr()
			want = append(want, row{naming.TopologyType, 1, 1, uint8(frame.NodeScope), top.Port, a})
		} else {
			for i := range w.nets {
				want = append(want, row{naming.LinkState, a, a, uint8(frame.NodeScope), uint32(i<<16 | i), uint32(l.n.addr)})
			}
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
		for i, d := range l.dev {
			if len(d.tx)+len(l.out[i]) == 0 || l.eng.Deadline() == flowctl.Never {
				d.close()
				l.drop(i)
			}
		}
		if free, total := l.arena.Free(), l.arena.Total(); free != total {
			w.violate(5, "node %d: %d of %d chunks free after everything was closed", n.idx, free, total)
		}
		if n := l.eng.Ports(); n != 0 {
			w.violate(5, "node %d: %d sockets after everything was closed", l.n.idx, n)
		}
	}
}
