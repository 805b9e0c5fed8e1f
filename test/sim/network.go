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
	w     *world
	idx   int
	r     *rand.Rand
	f     *NetworkFaults
	split [maxNodes][maxNodes]bool // frames from, to are lost
	gone  [maxNodes]int            // why a node hears nothing and is not heard
	ways  [maxNodes][maxNodes]path
	wires [maxNodes]wire // from each station to the switch
	last  [64]*packet    // lately carried, for the hostile mode
	n     int
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
		s.send(p, from, n, d)
	}
}

// send takes a frame to one station, or loses it, or brings it twice or late. d is how
// long it takes at least.
func (s *network) send(p *packet, from, to *node, d time.Duration) {
	f, way := s.f, &s.ways[from.idx][to.idx]
	copies := 1
	if s.r.Float64() < f.Duplicate {
		copies = 2
	}
	for range copies {
		if s.loses(way, from, to) {
			s.w.report.FramesLost++
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
			s.arrive(p, to, s.w.clock.now+d+time.Duration(s.r.Int64N(int64(s.w.maxDelay[s.idx]))))
		default:
			// What is not held back keeps its place behind what was not either.
			way.last = max(s.w.clock.now+d, way.last+1)
			s.arrive(p, to, way.last)
			s.pass(way, to)
		}
	}
}

// loses draws whether a frame is lost.
func (s *network) loses(way *path, from, to *node) bool {
	return s.split[from.idx][to.idx] || s.gone[from.idx]+s.gone[to.idx] > 0 || way.loses(s.w.clock.now, s.r, s.f, from.idx < to.idx)
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
func (s *network) hold(p *packet, way *path, to *node, d time.Duration) {
	h := &heldFrame{p: p, left: 2 + s.r.IntN(max(1, s.f.Places-1))}
	way.held = append(way.held, h)
	s.w.clock.after(d+s.w.maxDelay[s.idx], func() {
		if h.left > 0 {
			h.left = 0
			s.pass(way, to)
		}
	})
}

// pass lets the frames go on that enough others have overtaken, behind the last.
func (s *network) pass(way *path, to *node) {
	keep := way.held[:0]
	for _, h := range way.held {
		if h.left--; h.left > 0 {
			keep = append(keep, h)
			continue
		}
		way.last = max(s.w.clock.now, way.last+1)
		s.arrive(h.p, to, way.last)
	}
	clear(way.held[len(keep):])
	way.held = keep
}

func (s *network) arrive(p *packet, to *node, at time.Duration) {
	s.w.clock.at(at, func() {
		if to.life != nil {
			to.life.dev[s.idx].arrive(p)
			to.life.wake()
		}
	})
}

// heal ends all faults but those the network was wired with.
func (s *network) heal() {
	s.join()
	s.gone = [maxNodes]int{}
	*s.f = NetworkFaults{Wire: s.f.Wire}
}

// join makes all stations hear each other.
func (s *network) join() { s.split = [maxNodes][maxNodes]bool{} }

// part parts the stations in two, one way or both.
func (s *network) part(oneWay bool) {
	var side [maxNodes]bool
	for i := range s.w.nodes {
		side[i] = s.r.IntN(2) == 0
	}
	for i := range s.w.nodes {
		for j := range s.w.nodes {
			if side[i] && !side[j] || !oneWay && side[i] != side[j] {
				s.split[i][j] = true
			}
		}
	}
}

// A wire takes frames one behind the other.
type wire struct {
	free time.Duration   // when the last has left
	ends []time.Duration // when each that waits has left, with a limit on their number
}

// wireExtra is what Ethernet adds to a frame: preamble, checksum and gap, in bytes.
const wireExtra = 24

// send returns how long a frame of n bytes takes; ok is false where there is no room
// for it.
func (w *wire) send(now time.Duration, c Wire, n int) (d time.Duration, ok bool) {
	if c.Rate == 0 {
		return c.Delay, true
	}
	if c.Queue > 0 {
		for len(w.ends) > 0 && w.ends[0] <= now {
			w.ends = w.ends[1:]
		}
		if len(w.ends) >= c.Queue {
			return 0, false
		}
	}
	bits := 8 * int64(max(n, minFrame)+wireExtra)
	w.free = max(w.free, now) + time.Duration(bits*int64(time.Second)/c.Rate)
	if c.Queue > 0 {
		w.ends = append(w.ends, w.free)
	}
	return w.free - now + c.Delay, true
}
