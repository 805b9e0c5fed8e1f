// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// every does something again and again, about as often as mean says, until calm.
func (w *world) every(mean time.Duration, do func()) {
	if mean <= 0 {
		return
	}
	w.clock.after(time.Duration(w.work.Int64N(int64(2*mean)))+1, func() {
		if !w.calm {
			do()
			w.every(mean, do)
		}
	})
}

// plan sets up the faults.
func (w *world) plan() {
	f := &w.faults
	for _, s := range w.nets {
		s.plan(*s.f)
	}
	each := time.Duration(len(w.nodes))
	for _, n := range w.nodes {
		w.every(f.Crash*each, func() { n.crash(time.Duration(w.work.Int64N(int64(4 * time.Second)))) })
		w.every(f.Pause*each, func() {
			n.paused = w.clock.now + time.Duration(w.work.Int64N(int64(f.PauseFor)))
		})
		w.every(f.Device.Stall*each, func() {
			if n.life != nil {
				d := n.life.dev[w.work.IntN(len(n.life.dev))]
				d.full = w.clock.now + time.Duration(w.work.Int64N(int64(f.Device.StallFor)))
			}
		})
		w.every(f.Starve*each, func() {
			n.starved = w.clock.now + time.Duration(w.work.Int64N(int64(f.StarveFor)))
		})
	}
	if w.cfg.Hostile {
		w.every(10*time.Millisecond, w.inject)
	}
}

// plan sets up what happens to one network.
func (s *network) plan(f NetworkFaults) {
	w := s.w
	w.every(f.Partition, func() {
		w.report.Partitions++
		s.part(s.r.Float64() < f.OneWay)
		w.tracef("network %d: partition %v", s.idx, s.split)
		w.clock.after(time.Duration(s.r.Int64N(int64(2*f.Partition)))+1, s.join)
	})
	w.clock.after(f.FlapAfter, func() { w.every(f.Flap, func() { s.flap(f.FlapFor) }) })
}

// flap takes the network from a node for a while, in one of two ways.
func (s *network) flap(longest time.Duration) {
	s.w.report.Flaps++
	n := s.w.nodes[s.r.IntN(len(s.w.nodes))]
	d := time.Duration(s.r.Int64N(int64(longest))) + 1
	if s.r.IntN(2) == 0 {
		s.silence(n, d)
	} else {
		s.unplug(n, d)
	}
}

// silence cuts a node off for a while, and nobody is told.
func (s *network) silence(n *node, d time.Duration) {
	s.w.tracef("network %d: node %d cut for %v", s.idx, n.idx, d)
	s.gone[n.idx]++
	s.w.clock.after(d, func() {
		if s.gone[n.idx] > 0 {
			s.gone[n.idx]--
		}
	})
}

// unplug takes the carrier from a node's device for a while.
func (s *network) unplug(n *node, d time.Duration) {
	if n.life == nil || n.life.dev[s.idx].down || s.w.clock.now < n.paused {
		return
	}
	l := n.life
	s.w.tracef("network %d: node %d unplugged for %v", s.idx, n.idx, d)
	l.setCarrier(s.idx, false)
	s.w.clock.after(d, func() {
		if !l.dead && l.dev[s.idx].down {
			l.setCarrier(s.idx, true)
		}
	})
}

// heal ends the faults and the work; what was begun is finished.
func (w *world) heal() {
	w.calm = true
	for _, s := range w.nets {
		s.heal()
	}
	f := &w.faults
	f.Device.Late, f.Refuse = 0, 0
	for _, n := range w.nodes {
		n.paused, n.starved = 0, 0
		if n.life == nil {
			n.start()
			continue
		}
		for i, d := range n.life.dev {
			d.full, d.Late = 0, 0
			if d.down {
				n.life.setCarrier(i, true)
			}
		}
		n.life.wake()
		for _, p := range n.life.ports {
			p.readSoon()
		}
	}
}

// unplugAll is a mistake: a node's devices lose their networks for no reason.
func (l *life) unplugAll() {
	for i, d := range l.dev {
		if !l.dead && !d.down {
			l.setCarrier(i, false)
			l.setCarrier(i, true)
		}
	}
}
