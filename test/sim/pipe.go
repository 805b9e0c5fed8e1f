// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A pipe is the way from one of two nodes to the other in a Flow: a device with a
// ring, and the wire behind it. Frames lie in the receiver's arena while they are on
// their way, for which it has chunks enough.
type pipe struct {
	f         *flow
	net, to   int
	forth     bool
	faults    *NetworkFaults
	r         *rand.Rand
	wire      wire
	way       path
	cut, gone bool
	waits     bool // frames wait for a place in the ring
	queue     flowctl.Queue[flying]
	held      []*heldBack
}

// A flying frame arrives at its time.
type flying struct {
	at time.Duration
	b  *netdev.Buffer
}

// A heldBack frame waits until others have overtaken it.
type heldBack struct {
	b    *netdev.Buffer
	left int
}

// fill takes frames from an engine while there is room for them.
func (p *pipe) fill(e *engine.Engine) {
	now := p.f.now
	ends := p.wire.ends
	for len(ends) > 0 && ends[0] <= now {
		ends = ends[1:]
	}
	p.wire.ends = ends
	for p.waits = false; ; {
		if len(p.wire.ends) >= p.f.Ring {
			p.waits = true
			return
		}
		b := e.NextFrame(p.net)
		if b == nil {
			return
		}
		p.send(b)
		b.Recycle()
	}
}

// send brings a frame on its way, or loses it.
func (p *pipe) send(b *netdev.Buffer) {
	f := p.f
	f.report.Frames++
	c := p.faults.Wire
	queue := c.Queue
	c.Queue = f.Ring + 1 // so that the wire says when each has left
	d, _ := p.wire.send(f.now, c, b.Len())
	lost := queue > 0 && len(p.wire.ends) > queue
	copies := 1
	if p.faults.Duplicate > 0 && p.r.Float64() < p.faults.Duplicate {
		copies = 2
	}
	for range copies {
		if lost || p.cut || p.gone || p.way.loses(f.now, p.r, p.faults, p.forth) {
			f.report.FramesLost++
			continue
		}
		x := f.ends[p.to].arena.Get(b.Len(), netdev.Control)
		if x == nil {
			f.report.FramesLost++ // the device has no chunk for it
			continue
		}
		copy(x.Extend(b.Len()), b.Bytes())
		if p.faults.Reorder > 0 && p.r.Float64() < p.faults.Reorder {
			p.hold(x)
			continue
		}
		p.arrive(x, f.now+d+switchDelay)
	}
}

// heldFor is how long a frame is held back at most.
const heldFor = time.Millisecond

// hold keeps a frame back until others have passed it, or its time is over.
func (p *pipe) hold(b *netdev.Buffer) {
	h := &heldBack{b, 2 + p.r.IntN(max(1, p.faults.Places-1))}
	p.held = append(p.held, h)
	p.f.clock.at(p.f.now+heldFor, func() {
		if h.left > 0 {
			h.left = 0
			p.pass(p.f.clock.now)
		}
	})
}

// arrive has a frame arrive, and behind it those that enough others have overtaken.
func (p *pipe) arrive(b *netdev.Buffer, at time.Duration) {
	p.push(b, at)
	p.pass(at)
}

func (p *pipe) push(b *netdev.Buffer, at time.Duration) {
	p.way.last = max(at, p.way.last+1)
	p.queue.Push(flying{p.way.last, b})
}

func (p *pipe) pass(at time.Duration) {
	keep := p.held[:0]
	for _, h := range p.held {
		if h.left--; h.left > 0 {
			keep = append(keep, h)
		} else {
			p.push(h.b, at)
		}
	}
	clear(p.held[len(keep):])
	p.held = keep
}

// clear loses what is on its way.
func (p *pipe) clear() {
	for p.queue.Len() > 0 {
		p.queue.Pop().b.Release()
		p.f.report.FramesLost++
	}
}
