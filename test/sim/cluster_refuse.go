// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A refuser makes the slow path of a Cluster's nodes as usual as the fast one, in some
// clusters: arenas refuse single chunks, and devices take no frames for a moment. Nobody
// may be given up for that.
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
	if t.behind[net] == 0 {
		t.behind[net] = c.clock.now
	}
	t.pollBy(t.jam[net])
	return true
}

// waited tells the observer for how long frames have waited for any device, as they do
// through several jams.
func (c *cluster) waited() {
	for _, m := range c.members {
		if m.term == nil {
			continue
		}
		for _, since := range m.term.behind {
			if since > 0 {
				c.talk.Slack = max(c.talk.Slack, c.clock.now-since)
			}
		}
	}
}

// givenUp is called when a node has ended contact with another one itself. It may where that
// one holds up all others: for ten tolerances nothing of what it was sent has reached it, though
// it can be heard, and it has more the timeout. For want of memory it may not.
func (t *term) givenUp(ev engine.Event) {
	c := t.m.c
	if ev.Cause != flowctl.OwnDecision || t.leaves {
		return
	}
	c.report.GivenUp++
	if c.clock.now >= t.m.starved && !t.unheard(ev.Node) {
		c.violate("health", "node %d: gave %v up", t.m.idx, ev.Node)
	}
}

// unheard reports whether nothing that a node sends has reached another one for as long as the
// broadcast link waits for an acknowledgement.
func (t *term) unheard(a frame.NodeAddr) bool {
	const tolerances = 10 // docs/spec/04-broadcast.md §5
	for _, m := range t.m.c.members {
		if m.term != nil && m.term.eng.Address() == a {
			return t.m.c.clock.now-m.reached[t.m.idx] > tolerances*t.m.tolerance
		}
	}
	return false // it is silent, too
}
