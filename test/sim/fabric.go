// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"
)

// A fabric is the inside of a switch: the ways from each station to each other, and
// what becomes of frames on them. Stations are numbers from 0.
type fabric struct {
	clock    *clock
	r        *rand.Rand
	f        *NetworkFaults
	maxDelay time.Duration // the longest time for which others may overtake a frame
	lost     *uint64       // frames are counted there
	deliver  func(to int, p *packet)

	split [][]bool // frames from, to are lost
	gone  []int    // why a station hears nothing and is not heard
	ways  [][]path
	wires []wire // from each station to the switch
}

// connect makes the ways between n stations.
func (s *fabric) connect(n int) {
	s.split, s.ways = make([][]bool, n), make([][]path, n)
	for i := range n {
		s.split[i], s.ways[i] = make([]bool, n), make([]path, n)
	}
	s.gone, s.wires = make([]int, n), make([]wire, n)
}

// A path is the way from one station to another.
type path struct {
	bad   bool          // in a burst of loss
	until time.Duration // when that changes
	last  time.Duration // when the latest frame arrives that was not overtaken
	held  []*heldFrame
}

// A heldFrame waits until others have overtaken it.
type heldFrame struct {
	p    *packet
	left int // frames still to pass
}

// switchDelay is the way through the switch.
const switchDelay = 3 * time.Microsecond

// send takes a frame to one station, or loses it, or brings it twice or late. d is how
// long it takes at least.
func (s *fabric) send(p *packet, from, to int, d time.Duration) {
	f, way := s.f, &s.ways[from][to]
	copies := 1
	if s.r.Float64() < f.Duplicate {
		copies = 2
	}
	for range copies {
		if s.loses(way, from, to) {
			*s.lost++
			continue
		}
		d := d + switchDelay + time.Duration(s.r.Int64N(int64(time.Microsecond)))
		// Frames of a session that is over already, left by a stalled device, keep
		// their place: see the package comment.
		late := s.r.Float64() < f.Reorder && (p.rec == nil || !p.rec.ended)
		switch {
		case late && f.Places > 0:
			s.hold(p, way, to, d)
		case late:
			s.arrive(p, to, s.clock.now+d+time.Duration(s.r.Int64N(int64(s.maxDelay))))
		default:
			// What is not held back keeps its place behind what was not either.
			way.last = max(s.clock.now+d, way.last+1)
			s.arrive(p, to, way.last)
			s.pass(way, to)
		}
	}
}

// loses draws whether a frame is lost.
func (s *fabric) loses(way *path, from, to int) bool {
	return s.split[from][to] || s.gone[from]+s.gone[to] > 0 || way.loses(s.clock.now, s.r, s.f, from < to)
}

// loses draws whether the way loses a frame; forth is the way to a node of a higher
// number.
func (p *path) loses(now time.Duration, r *rand.Rand, f *NetworkFaults, forth bool) bool {
	if f.Burst.For > 0 {
		p.burst(now, r, f.Burst)
	}
	return f.Loss > 0 && r.Float64() < f.Loss ||
		p.bad && f.Burst.For > 0 && r.Float64() < f.Burst.Loss ||
		forth && f.LossOneWay > 0 && r.Float64() < f.LossOneWay
}

// burst lets good and bad times follow each other until now.
func (p *path) burst(now time.Duration, r *rand.Rand, b Burst) {
	if p.until == 0 {
		p.bad = true // so that it begins with a good time
	}
	for p.until <= now {
		p.bad = !p.bad
		mean := b.Every
		if p.bad {
			mean = b.For
		}
		p.until += 1 + time.Duration(r.ExpFloat64()*float64(mean))
	}
}

// hold keeps a frame back until others have passed it, or its time is over.
func (s *fabric) hold(p *packet, way *path, to int, d time.Duration) {
	h := &heldFrame{p: p, left: 2 + s.r.IntN(max(1, s.f.Places-1))}
	way.held = append(way.held, h)
	s.clock.after(d+s.maxDelay, func() {
		if h.left > 0 {
			h.left = 0
			s.pass(way, to)
		}
	})
}

// pass lets the frames go on that enough others have overtaken, behind the last.
func (s *fabric) pass(way *path, to int) {
	keep := way.held[:0]
	for _, h := range way.held {
		if h.left--; h.left > 0 {
			keep = append(keep, h)
			continue
		}
		way.last = max(s.clock.now, way.last+1)
		s.arrive(h.p, to, way.last)
	}
	clear(way.held[len(keep):])
	way.held = keep
}

func (s *fabric) arrive(p *packet, to int, at time.Duration) {
	s.clock.at(at, func() { s.deliver(to, p) })
}

// join makes all stations hear each other.
func (s *fabric) join() {
	for i := range s.split {
		clear(s.split[i])
	}
}

// part parts the stations in two, one way or both.
func (s *fabric) part(oneWay bool) {
	side := make([]bool, len(s.split))
	for i := range side {
		side[i] = s.r.IntN(2) == 0
	}
	for i := range side {
		for j := range side {
			if side[i] && !side[j] || !oneWay && side[i] != side[j] {
				s.split[i][j] = true
			}
		}
	}
}
