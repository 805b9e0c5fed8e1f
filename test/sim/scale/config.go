// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A Config says what to simulate. Zero fields mean the defaults.
type Config struct {
	Nodes     int           // 2 to MaxNodes
	Seed      uint64        // of everything that is left to chance
	Tolerance time.Duration // of all links; default flowctl.DefaultTolerance
	Loss      float64       // the share of frames that a station does not hear
	Kills     []int         // how many nodes to kill at a time, and start again
	Part      bool          // the segment falls into halves, and heals
	Idle      time.Duration // how long to count the traffic of the idle cluster; default 20 s
	Settle    time.Duration // how long to wait, once all know all, before anything is counted; default 5 s
	StayDead  bool          // those killed are not started again
	NoMonitor bool          // every node watches every other

	// Clock is read for Report.Real and Report.IdleReal, which are differences of it: the
	// processor time of this process, say. Default: time that passes.
	Clock func() time.Duration

	Mutation Mutation // a deliberate mistake, to see the checks find it
}

// MaxNodes is the most nodes of a cluster.
const MaxNodes = 4000

const (
	delay     = 50 * time.Microsecond // of a frame
	bootGap   = 10 * time.Millisecond // between two nodes that start, on average
	bootLimit = 90 * time.Second      // for all to know all, after the last started
	longAfter = 10 * time.Second      // beyond the bound, when every survivor must have noticed
	mtu       = 1500
)

func (c Config) withDefaults() Config {
	c.Nodes = min(max(c.Nodes, 2), MaxNodes)
	if c.Tolerance == 0 {
		c.Tolerance = flowctl.DefaultTolerance
	}
	if c.Idle == 0 {
		c.Idle = 20 * time.Second
	}
	if c.Settle == 0 {
		c.Settle = 5 * time.Second
	}
	if c.Clock == nil {
		began := time.Now()
		c.Clock = func() time.Duration { return time.Since(began) }
	}
	return c
}

// manyNodes is the size from which on a dead node nearly always has four neighbours that
// live and report it, and so is given up at their word.
const manyNodes = 256

// Bound is the time in which 99 of 100 survivors must notice a dead node: tolerance,
// two intervals and a second. In small rings some hear of it from less than four, and probe
// it for as long as if they had watched it themselves: a tolerance and an interval more.
func (c Config) Bound() time.Duration {
	c = c.withDefaults()
	interval := min(c.Tolerance/4, 500*time.Millisecond)
	bound := c.Tolerance + 2*interval + time.Second
	if c.Nodes < manyNodes {
		bound += c.Tolerance + interval
	}
	return bound
}
