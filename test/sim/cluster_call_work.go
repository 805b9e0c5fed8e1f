// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

const (
	maxSides       = 8 // calls that a node has at a time; in a storm more
	stormSides     = 100
	longestSilence = 4 * time.Second // after which the observer believes that what it saw sent is lost
)

// A world of connections differs from others by what its nodes are like.
type callWorld struct {
	scarce  bool // memory is refused, at times
	refuse  float64
	window  int
	bundles bool
	first   frame.Seq
	chunks  int
	hours   bool // a rest lasts for hours
	dialled map[frame.SocketAddr]*call
	lucky   func(share float64) bool
}

// drawCalls draws a world of connections.
func (c *cluster) drawCalls() {
	r := chances{c.rand(3)}
	x := &c.callWorld
	x.dialled = map[frame.SocketAddr]*call{}
	x.lucky = func(share float64) bool { return r.Float64() < share }
	x.bundles = r.IntN(6) > 0
	x.chunks = 4096
	if r.IntN(2) == 0 {
		x.first = frame.Seq(65535 - 1 - r.IntN(200))
	}
	switch r.IntN(5) {
	case 0:
		x.window = 1 + r.IntN(20)
	case 1:
		x.window = 50 + r.IntN(300)
	}
	if x.scarce = r.IntN(5) == 0; x.scarce {
		x.chunks = 400 + r.IntN(400)
		x.refuse = r.pick(0, 0, 0.001, 0.01)
	}
	x.hours = c.Seed%16 == 0
	old := r.IntN(3)
	for _, m := range c.members {
		m.noBlocks = old == 0 && r.IntN(2) == 0
		for i := range m.mtu {
			m.mtu[i] = []int{1500, 1500, 3800, 600}[r.IntN(4)]
		}
	}
	if c.talk != nil {
		c.talk.First, c.talk.Slack = x.first, longestSilence
		c.talk.Owed = c.talk.Owed || x.scarce
	}
}

// adapt makes an engine's configuration that of a world of connections.
func (c *cluster) adapt(m *member, k *engine.Config) {
	k.Window, k.NoBundles, k.FirstSeq = c.window, !c.bundles, c.first
	if m.noBlocks {
		k.Capabilities = engine.Capabilities &^ frame.CapBlockFlowctl
	}
	k.Arena = netdev.NewArena(netdev.ArenaConfig{Small: c.chunks, Poison: true, Refuse: func(u netdev.Use) bool {
		return c.clock.now < m.starved || c.refuse > 0 && c.busy && c.lucky(c.refuse) || c.refuses(u)
	}})
}

// act does something with connections.
func (t *term) actCalls() {
	c, r := t.m.c, t.m.c.work
	switch x := r.IntN(100); {
	case len(t.acceptors) < 2 || x < 2 && len(t.acceptors) < 6:
		t.listen()
	case x < 4:
		t.acceptors[r.IntN(len(t.acceptors))].close()
	case x < 5 && r.IntN(2) == 0 && len(t.sides) < stormSides:
		if a := c.someAcceptor(); a != nil {
			c.report.Storms++
			for range 20 + r.IntN(60) {
				t.dial(a, a.bound && r.IntN(2) == 0)
			}
		}
	case len(t.sides) < maxSides:
		if a := c.someAcceptor(); a != nil {
			t.dial(a, a.bound && r.IntN(3) > 0)
		}
	}
}

// someAcceptor draws a listening socket of some node, or of the last life of one.
func (c *cluster) someAcceptor() *acceptor {
	m := c.members[c.work.IntN(len(c.members))]
	if m.term != nil && len(m.term.acceptors) > 0 {
		m.heard = m.term.acceptors[c.work.IntN(len(m.term.acceptors))]
	}
	return m.heard
}

// starve refuses a node all memory for a while.
func (m *member) starve() {
	c := m.c
	m.starved = c.clock.now + c.upTo(500*time.Millisecond)
	c.tracef("node %d gets no chunk until %v", m.idx, m.starved)
	c.clock.at(m.starved, func() {
		if m.term != nil {
			m.term.wake()
		}
	})
}

// moreTrouble is what worlds of connections suffer from besides.
func (c *cluster) moreTrouble(r chances, each time.Duration) {
	if !c.scarce {
		return
	}
	starve := r.often(0.7, 2*time.Second)
	for _, m := range c.members {
		c.every(starve*each, m.starve)
	}
}

// quietCalls ends some of the calls that have lasted, some at both ends at once, and
// lets hours pass over the others.
func (c *cluster) quietCalls() {
	c.checkCalls()
	for _, m := range c.members {
		for _, s := range append([]*side(nil), m.term.sides...) {
			if c.work.IntN(4) == 0 {
				s.hangUp(c.work.IntN(2) == 0)
			}
		}
	}
	c.run(time.Second)
	c.checkCalls()
	if c.hours && c.round == 1 {
		c.run(2*time.Hour + 10*time.Minute)
		c.checkCalls()
	}
}
