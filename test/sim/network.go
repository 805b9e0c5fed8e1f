// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/frame"
)

// A packet is a frame on its way, and what the simulation knows of it.
type packet struct {
	bytes []byte
	from  *life    // nil: injected
	rec   *session // the sender's, of link messages and packets
}

// A network is one switch: every station hears what is for it, or for all.
type network struct {
	fabric
	w    *world
	idx  int
	last [64]*packet // lately carried, for the hostile mode
	n    int
}

func newNetwork(w *world, idx int, f *NetworkFaults, maxDelay time.Duration, r *rand.Rand) *network {
	s := &network{w: w, idx: idx}
	s.fabric = fabric{clock: &w.clock, r: r, f: f, maxDelay: maxDelay, lost: &w.report.FramesLost, deliver: s.arrived}
	s.connect(w.cfg.Nodes)
	return s
}

// carry takes a frame to the stations it is for.
func (s *network) carry(p *packet) {
	s.last[s.n%len(s.last)] = p
	s.n++
	from := p.from.n
	d, ok := s.wires[from.idx].send(s.w.clock.now, s.f.Wire, len(p.bytes))
	if !ok {
		s.w.report.FramesLost++
		return
	}
	dst := frame.MAC(p.bytes[:6])
	for _, n := range s.w.nodes {
		if n == from || !dst.IsGroup() && dst != n.mac[s.idx] {
			continue
		}
		s.send(p, from.idx, n.idx, d)
	}
}

func (s *network) arrived(to int, p *packet) {
	if l := s.w.nodes[to].life; l != nil {
		l.dev[s.idx].arrive(p)
		l.wake()
	}
}

// heal ends all faults but those the network was wired with.
func (s *network) heal() {
	s.join()
	clear(s.gone)
	*s.f = NetworkFaults{Wire: s.f.Wire}
}
