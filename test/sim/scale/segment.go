// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A segment is what carries frames. As all take the same time, what was sent first
// arrives first, and frames wait in a queue.
type segment struct {
	queue flowctl.Queue[flight]
	bytes [][]byte // of frames that have arrived, to be used again
	split bool     // stations of even and odd numbers do not hear each other
}

// A flight is a frame on its way.
type flight struct {
	at   time.Duration
	from *station
	b    []byte
}

func (s *segment) first() time.Duration {
	if s.queue.Len() == 0 {
		return flowctl.Never
	}
	return s.queue.At(0).at
}

// take copies a frame.
func (s *segment) take(b []byte) []byte {
	var c []byte
	if k := len(s.bytes); k > 0 {
		c, s.bytes = s.bytes[k-1], s.bytes[:k-1]
	}
	return append(c[:0], b...)
}

// send brings a frame on its way.
func (c *cluster) send(from *station, b []byte) {
	c.report.Frames++
	c.report.Bytes += uint64(len(b))
	b = c.air.take(b)
	if c.Mutation != None && c.mutate(from, b) {
		c.report.FramesLost++
		return
	}
	c.air.queue.Push(flight{c.now + delay, from, b})
}

// arrive brings the first frame to whom it is for.
func (c *cluster) arrive() {
	f := c.air.queue.Pop()
	if frame.MAC(f.b[:6]).IsGroup() {
		for _, s := range c.stations {
			if s != f.from {
				c.deliver(f, s)
			}
		}
	} else if i := int(f.b[4])<<8 | int(f.b[5]); i < len(c.stations) && c.stations[i].mac == frame.MAC(f.b[:6]) {
		c.deliver(f, c.stations[i])
	}
	c.air.bytes = append(c.air.bytes, f.b)
}

// deliver hands a frame to a station, or loses it.
func (c *cluster) deliver(f flight, to *station) {
	if to.eng == nil || c.apart(f.from, to) {
		return
	}
	if c.Loss > 0 && c.r.Float64() < c.Loss {
		c.report.FramesLost++
		return
	}
	b := c.arena.Get(len(f.b), netdev.Control)
	if b == nil {
		c.report.FramesLost++
		c.violate("at %v there is no memory for a frame", c.now)
		return
	}
	copy(b.Extend(len(f.b)), f.b)
	c.report.Heard++
	to.eng.HandleFrame(c.now, 0, b)
	b.Release()
	c.after(to)
}
