// SPDX-License-Identifier: Apache-2.0

package scale

import "time"

// halves lets the segment fall into two: each half must notice that it lost the other, and
// keep all its own. Then it heals.
func (c *cluster) halves() {
	c.lost = c.lost[:0]
	began := c.now
	c.air.split = true
	even := (c.Nodes + 1) / 2
	odd := c.Nodes - even
	within := even*(even-1) + odd*(odd-1)
	if !c.run(c.now+c.Bound()+longAfter, func() bool { return c.contacts == within }) {
		c.violate("parted: %d contacts after %v, want %d", c.contacts, c.now-began, within)
	}
	k := Kill{Nodes: odd, Parted: true}
	var times []time.Duration
	for _, l := range c.lost {
		times = append(times, l.at-began)
	}
	c.judge(&k, times)
	c.air.split = false
	k.Rejoined = c.meet("after the segment healed")
	c.report.Kills = append(c.report.Kills, k)
}
