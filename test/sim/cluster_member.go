// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strconv"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A member is a machine of a cluster; it lives any number of times, perhaps as another
// node.
type member struct {
	c         *cluster
	idx       int
	addr      frame.NodeAddr // 0: the engine tries for one
	identity  frame.Identity
	tolerance time.Duration
	term      *term // nil while it is down
	moves     int
	card      int // its stations change with it
	began     int // number of the latest life

	mtu      [clusterNets]int
	noBlocks bool          // on connections it counts messages
	starved  time.Duration // it gets no chunk until then
	heard    *acceptor     // of its present life, or the last

	reached [clusterNodes]time.Duration // when it took a frame of each other member last
}

// A term is one life of a member: an engine, from its start to its end.
type term struct {
	m      *member
	eng    *engine.Engine
	arena  *netdev.Arena
	dead   bool
	pollAt time.Duration
	rx     [clusterNets][]*packet
	socks  []*sock
	sole   []*engine.Port          // with names to themselves
	told   map[naming.Binding]bool // by name events
	lost   map[frame.NodeAddr]int  // how often contact with a node was lost
	names  []naming.Event
	ready  []*engine.Port
	held   bool // messages wait for each other while it works

	bearers int                        // networks that the engine is on
	jam     [clusterNets]time.Duration // its devices take no frames until then
	behind  [clusterNets]time.Duration // since when frames wait for them, 0: none do
	ahead   time.Duration              // of its clock, see now
	asleep  time.Duration              // it is suspended until then
	leaves  bool                       // it takes its leave

	sides     []*side // of calls
	acceptors []*acceptor
	asked     []*engine.Listener
	news      []*engine.Conn
	called    []*engine.Ticket
	over      []*side // whose accounts are to be drawn up, see checkUnsent
	mustLose  uint64  // bytes of closed calls that were lost
	watchdog  watchdog
}

// mac is a member's station in a network. Messages of connections do not say which node
// they are for: so where there are some, another node has another station.
func (m *member) mac(net int) frame.MAC {
	return frame.MAC{2, 0, 0, byte(m.card), byte(net), byte(m.idx + 1)}
}

// start begins a new life of a member that is down.
func (m *member) start() {
	c := m.c
	if m.term != nil {
		return
	}
	c.lives++
	m.began = c.lives
	t := &term{m: m, pollAt: flowctl.Never, told: map[naming.Binding]bool{}, lost: map[frame.NodeAddr]int{}}
	k := engine.Config{
		Address: m.addr, Identity: m.identity, Tolerance: m.tolerance,
		Chance: engine.NewSeeded(c.Seed, uint64(20_000+c.lives)),
		Did:    t.watchdog.did,
	}
	t.watchdog.bark = func(format string, args ...any) {
		c.violate("work", "node %d: "+format, append([]any{m.idx}, args...)...)
	}
	if c.Connections {
		c.adapt(m, &k)
	} else {
		k.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 4096, Poison: c.refusal > 0, Refuse: c.refuses})
	}
	t.arena = k.Arena
	var err error
	t.eng, err = engine.New(k)
	if err != nil {
		panic(err)
	}
	t.held = c.work.IntN(2) == 0
	m.term = t
	c.tracef("node %d starts as %v", m.idx, m.addr)
	t.settle()
	for i := range c.nets {
		t.do(func(now time.Duration) {
			if _, err := t.eng.AddBearer(now, engine.BearerConfig{Name: t.bearerName(i), MAC: m.mac(i), MTU: m.mtu[i]}); err != nil {
				panic(err)
			}
			t.bearers++
		})
	}
}

// end ends a life, without a word unless it takes its leave.
func (m *member) end(leave bool) {
	t, c := m.term, m.c
	if t == nil {
		return
	}
	c.tracef("node %d ends, takes its leave: %v", m.idx, leave)
	if leave {
		t.leaves = true
		if c.Connections && c.work.IntN(2) == 0 {
			t.eng.CutShort(t.now())
		}
		t.do(func(now time.Duration) { t.eng.Leave(now) })
		c.report.Leaves++
	} else {
		c.report.Crashes++
	}
	c.watchPurge(t)
	c.watchLost(t)
	t.dead, m.term = true, nil
}

// arrived takes a frame from a network.
func (m *member) arrived(net int, p *packet) {
	if t := m.term; t != nil && len(t.rx[net]) < 4096 {
		t.rx[net] = append(t.rx[net], p)
		t.wake()
	}
}

// wake has the node turn soon.
func (t *term) wake() {
	c := t.m.c
	t.pollBy(c.clock.now + time.Duration(2+c.nets[0].r.IntN(10))*time.Microsecond)
}

func (t *term) pollBy(at time.Duration) {
	c := t.m.c
	if at = max(at, c.clock.now, t.asleep); t.dead || at >= t.pollAt {
		return
	}
	t.pollAt = at
	c.clock.at(at, func() {
		if !t.dead && t.pollAt == at {
			t.pollOnce()
		}
	})
}

// pollOnce turns the node once: frames in, timers, frames out.
func (t *term) pollOnce() {
	c := t.m.c
	t.watchdog.begin()
	t.pollAt = flowctl.Never
	if c.clock.now < t.asleep {
		t.pollBy(t.asleep)
		return
	}
	for net := range c.nets {
		n := min(len(t.rx[net]), 64)
		for _, p := range t.rx[net][:n] {
			t.frame(net, p)
		}
		t.rx[net] = t.rx[net][n:]
	}
	if t.now() >= t.eng.Deadline() {
		t.eng.HandleTimeout(t.now())
	}
	t.settle()
}

// frame hands a frame to the engine.
func (t *term) frame(net int, p *packet) {
	c := t.m.c
	b := t.arena.Get(max(minFrame, len(p.bytes)), netdev.Control)
	if b == nil {
		return // as if the network had lost it
	}
	copy(b.Extend(max(minFrame, len(p.bytes))), p.bytes)
	c.spoilReceived(b)
	c.report.Received++
	if from := int(p.bytes[11]) - 1; from >= 0 && from < clusterNodes { // see mac
		t.m.reached[from] = c.clock.now
	}
	t.watchdog.did(engine.WorkFrames, 1)
	t.eng.HandleFrame(t.now(), net, b)
	again := c.again(b)
	b.Recycle()
	if again != nil {
		t.frame(net, again)
	}
}

// do makes a call of a user's.
func (t *term) do(call func(now time.Duration)) {
	t.watchdog.begin()
	call(t.now())
	t.settle()
}

// mostTurns is how often a node's senders may be called at one moment.
const mostTurns = 20000

// settle takes what the engine gives: events, messages, frames, the next deadline.
func (t *term) settle() {
	c := t.m.c
	t.eng.Flush(t.now())
	t.events()
	t.ready = t.eng.TakeReady(t.ready[:0])
	for _, p := range t.ready {
		if s, ok := p.Owner.(*sock); ok {
			s.readSoon()
		}
	}
	for turns := 0; t.attend(); turns++ {
		t.eng.Flush(t.now())
		t.events()
		if turns == mostTurns {
			c.violate("waits", "node %d: senders are called for ever, and none gets on", t.m.idx)
			break
		}
	}
	for net := range c.nets {
		if net < t.bearers {
			t.send(net)
		}
	}
	if c.Connections {
		t.checkWaits()
	}
	if t.eng.WantsMemory() { // which may come back at any time
		t.pollBy(max(c.clock.now+100*time.Microsecond, t.m.starved))
	}
	for _, rx := range t.rx {
		if len(rx) > 0 {
			t.wake()
		}
	}
	t.pollBy(t.due())
}

// send brings the frames for a network on their way.
func (t *term) send(net int) {
	c, from := t.m.c, t.m.idx
	for !t.jammed(net) {
		b := t.eng.NextFrame(net)
		if b == nil {
			t.behind[net] = 0
			return
		}
		c.spoilSent(b)
		p := &packet{bytes: append([]byte(nil), b.Bytes()...)}
		b.Recycle()
		if c.report.Frames++; c.storm > 0 && c.report.Frames > c.storm {
			c.violate("storm", "frames after a suspension, beyond the %d when the nodes met", c.met)
		}
		c.note('f', from, p.bytes, uint64(net))
		c.checkFrame(t, net, p.bytes)
		dst := frame.MAC(p.bytes[:6])
		if !dst.IsGroup() {
			if to := int(dst[5]) - 1; to < len(c.members) && to != from && dst == c.members[to].mac(net) {
				c.nets[net].send(p, from, to, 0)
			}
			continue
		}
		for to := range c.members {
			if to != from {
				c.nets[net].send(p, from, to, 0)
			}
		}
	}
}

// events takes the engine's events.
func (t *term) events() {
	c := t.m.c
	for ev, ok := t.eng.NextEvent(); ok; ev, ok = t.eng.NextEvent() {
		c.note('e', t.m.idx, []byte(ev.Link), uint64(ev.Kind)<<32|uint64(ev.Node))
		c.tracef("node %d: %v %v, %v", t.m.idx, ev.Kind, ev.Node, ev.Cause)
		switch ev.Kind {
		case engine.AddressSettled:
			t.begin()
		case engine.PeerUp:
			c.report.Contacts++
		case engine.PeerLost:
			c.report.Lost++
			t.lost[ev.Node]++
			t.givenUp(ev)
		}
	}
	t.names = t.eng.TakeNameEvents(t.names[:0])
	for _, ev := range t.names {
		t.nameEvent(ev)
	}
}

// bearerName is what a node calls its place in a network.
func (t *term) bearerName(net int) string { return "eth" + strconv.Itoa(net) }

// calm ends what a member suffers from.
func (m *member) calm() {
	m.starved = 0
	if t := m.term; t != nil {
		t.wake()
		for _, s := range t.sides {
			s.readSoon()
		}
	}
}
