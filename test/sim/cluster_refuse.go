// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A refuser makes the slow path of a Cluster's nodes as usual as the fast one, in some
// clusters: arenas refuse single chunks, and devices take no frames for a moment. Nobody
// may be given up for that, but where a link's packets cannot be moved to another link.
type refuser struct {
	r       chances
	refusal float64       // of 1: chunks refused
	frames  float64       // of 1: frames at which a device takes no more
	jam     time.Duration // for how long, at most
}

func (c *cluster) drawRefuser() {
	x := &c.refuser
	x.r = chances{c.rand(4)}
	if x.r.IntN(4) == 0 {
		x.refusal = x.r.pick(0.0005, 0.002, 0.01)
	}
	if x.r.IntN(4) == 0 {
		x.frames = x.r.pick(0.001, 0.01, 0.1)
	}
	x.jam = 15 * time.Millisecond
}

// refuses is what arenas ask.
func (c *cluster) refuses(netdev.Use) bool {
	if c.busy && c.refusal > 0 && c.refuser.r.Float64() < c.refusal {
		c.report.ChunksRefused++
		return true
	}
	return false
}

// jammed reports whether a device takes no frames.
func (t *term) jammed(net int) bool {
	c := t.m.c
	if x := &c.refuser; c.busy && x.frames > 0 && c.clock.now >= t.jam[net] && x.r.Float64() < x.frames {
		t.jam[net] = c.clock.now + 1 + time.Duration(x.r.Int64N(int64(x.jam)))
		c.report.Jams++
	}
	if c.clock.now >= t.jam[net] {
		return false
	}
	t.pollBy(t.jam[net])
	return true
}

// givenUp is called when a node has ended contact with another one itself.
func (t *term) givenUp(ev engine.Event) {
	c := t.m.c
	if ev.Cause != flowctl.OwnDecision || t.leaves {
		return
	}
	c.report.GivenUp++
	if len(c.nets) == 1 && c.clock.now >= t.m.starved { // with two, a failover may have lacked chunks
		c.violate("health", "node %d: gave %v up", t.m.idx, ev.Node)
	}
}
