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
	w    *world
	r    *rand.Rand
	cut  [maxNodes][maxNodes]bool // frames from, to are lost
	last [64]*packet              // lately carried, for the hostile mode
	n    int
}

// wireDelay is the way through the switch.
const wireDelay = 3 * time.Microsecond

// carry takes a frame to the stations it is for.
func (s *network) carry(p *packet) {
	s.last[s.n%len(s.last)] = p
	s.n++
	dst := frame.MAC(p.bytes[:6])
	for _, n := range s.w.nodes {
		if n == p.from.n || !dst.IsGroup() && dst != n.mac {
			continue
		}
		s.send(p, p.from.n, n)
	}
}

// send takes a frame to one station, or loses it, or brings it twice or late.
func (s *network) send(p *packet, from, to *node) {
	f := &s.w.faults
	copies := 1
	if s.r.Float64() < f.Duplicate {
		copies = 2
	}
	for range copies {
		if s.cut[from.idx][to.idx] || s.r.Float64() < f.Loss {
			s.w.report.FramesLost++
			continue
		}
		d := wireDelay + time.Duration(s.r.Int64N(int64(time.Microsecond)))
		// Frames of a session that is over already, left by a stalled device, keep
		// their place: see the package comment.
		if late := s.r.Float64() < f.Reorder; late && (p.rec == nil || !p.rec.ended) {
			d += time.Duration(s.r.Int64N(int64(s.w.maxDelay)))
		} else {
			// What is not held back keeps its place behind what was not either.
			at := max(s.w.clock.now+d, to.lastFrom[from.idx]+1)
			to.lastFrom[from.idx], d = at, at-s.w.clock.now
		}
		s.w.clock.after(d, func() {
			if to.life != nil {
				to.life.dev.arrive(p)
				to.life.wake()
			}
		})
	}
}

// heal makes all stations hear each other.
func (s *network) heal() { s.cut = [maxNodes][maxNodes]bool{} }

// split parts the stations in two, one way or both.
func (s *network) split(oneWay bool) {
	var side [maxNodes]bool
	for i := range s.w.nodes {
		side[i] = s.r.IntN(2) == 0
	}
	for i := range s.w.nodes {
		for j := range s.w.nodes {
			if side[i] && !side[j] || !oneWay && side[i] != side[j] {
				s.cut[i][j] = true
			}
		}
	}
}
