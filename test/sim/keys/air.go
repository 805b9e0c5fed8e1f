// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"container/heap"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A flight is a frame on its way to one station.
type flight struct {
	at     time.Duration
	serial uint64
	to     *station
	bearer int
	b      []byte
}

// The air is all frames under way, those in front that arrive first.
type air []flight

func (a air) Len() int { return len(a) }
func (a air) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].serial < a[j].serial
}
func (a air) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *air) Push(x any)   { *a = append(*a, x.(flight)) }
func (a *air) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last].b = nil
	*a = (*a)[:last]
	return x
}

func (a air) first() time.Duration {
	if len(a) == 0 {
		return flowctl.Never
	}
	return a[0].at
}

const delay = 50 * time.Microsecond // of a frame that nothing happens to

// stationOf is whose address it is.
func (c *cluster) stationOf(m frame.MAC) *station {
	if i := int(m[5]) - 1; i >= 0 && i < len(c.stations) && m == c.stations[i].mac(int(m[3])) {
		return c.stations[i]
	}
	return nil
}

// send brings a frame of a node on its way.
func (c *cluster) send(s *station, bearer int, b []byte) {
	c.report.Frames++
	var k *known
	if !s.alien {
		k = c.check(s, bearer, b)
		c.overhear(bearer, b)
	}
	c.spread(s, bearer, b, k)
}

// spread brings a frame to all who hear it. from is nil for one that a stranger made up.
func (c *cluster) spread(from *station, bearer int, b []byte, k *known) {
	if c.silent() {
		return
	}
	dst, src := frame.MAC(b[:6]), frame.MAC(b[6:12])
	for _, o := range c.stations {
		if o == from || o.mac(bearer) == src || !dst.IsGroup() && o.mac(bearer) != dst || c.deaf(o, k) {
			continue
		}
		if !c.quiet && c.r.Float64() < c.loss {
			c.report.Lost++
			continue
		}
		c.fly(o, bearer, b)
		if !c.quiet && c.r.Float64() < c.twice {
			c.report.Doubled++
			c.fly(o, bearer, b)
		}
	}
}

// fly puts a frame into the air.
func (c *cluster) fly(to *station, bearer int, b []byte) {
	at := c.now + delay
	if !c.quiet && c.r.Float64() < c.late {
		at += time.Duration(c.r.Int64N(int64(3 * time.Millisecond)))
	}
	c.serial++
	heap.Push(&c.air, flight{at, c.serial, to, bearer, append([]byte(nil), b...)})
}

// arrive hands the first frame to whom it is for.
func (c *cluster) arrive() {
	f := heap.Pop(&c.air).(flight)
	if f.to.eng == nil {
		return
	}
	b := c.arena.Get(len(f.b), netdev.Control)
	if b == nil {
		c.violate("there is no memory for a frame")
		return
	}
	copy(b.Extend(len(f.b)), f.b)
	f.to.eng.HandleFrame(c.now, f.bearer, b)
	if c.Mutation != Keep || f.serial != 1000 {
		b.Release()
	}
	c.after(f.to)
}

// silent and deaf are mutations.
func (c *cluster) silent() bool {
	return c.Mutation == Silence && c.now > c.began+20*time.Second && c.now < c.began+23*time.Second
}

func (c *cluster) deaf(o *station, k *known) bool {
	return c.Mutation == Deaf && o.idx == 1 && k != nil && k.number >= c.given
}
