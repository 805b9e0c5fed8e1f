// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
)

// A node is a machine in the network; it lives any number of times.
type node struct {
	w        *world
	idx      int
	mac      frame.MAC
	addr     frame.NodeAddr
	mtu      int
	life     *life // nil while it is down
	paused   time.Duration
	lastFrom [maxNodes]time.Duration
}

// A life of a node is one engine, from its start to its end.
type life struct {
	n      *node
	serial int
	eng    *engine.Engine
	arena  *frame.Arena
	dev    *device
	dead   bool
	lapAt  time.Duration
	out    []outgoing // frames the device has not taken
	peers  [maxNodes]contact
	ports  []*port
	count  engine.Counters // at the last look

	ended    int // sessions
	forwards []*message
	holds    bool                    // messages wait for Flush
	told     map[naming.Binding]bool // by name events
	nameBuf  []naming.Event
	marks    []uint32 // by chunk: the round in which it was seen held
	round    uint32
	discs    []time.Duration // when the latest discovery messages left
}

// A contact is what a life has with another node.
type contact struct {
	cur  *session // of the link endpoint; nil before there is one
	all  []*session
	next frame.Seq // what the link expects, at the last look
	sent int       // messages sent or waiting, at the last look
}

// An outgoing frame waits for the device.
type outgoing struct {
	buf *frame.Buffer
	rec *session
}

// start begins a new life, with the same address and other chance.
func (n *node) start() {
	w := n.w
	if n.life != nil {
		return
	}
	w.lives++
	l := &life{n: n, serial: w.lives, lapAt: flowctl.Never, told: map[naming.Binding]bool{}}
	l.arena = frame.NewArena(frame.ArenaConfig{Small: w.faults.Chunks, Reserve: w.faults.Reserve, Poison: true})
	l.marks = make([]uint32, l.arena.Total())
	var err error
	l.eng, err = engine.New(engine.Config{
		Address: n.addr, Tolerance: w.faults.Tolerance, Window: w.faults.Window, NoBundles: w.faults.NoBundles,
		Arena: l.arena, Chance: engine.NewSeeded(w.cfg.Seed, uint64(1000+w.lives)),
	})
	if err != nil {
		panic(err)
	}
	l.dev = newDevice(l, w.faults.Device, w.faults.Chunks)
	n.life = l
	w.tracef("node %d starts, life %d", n.idx, l.serial)
	l.do(func() {
		if _, err := l.eng.AddBearer(w.clock.now, engine.BearerConfig{Name: "eth0", MAC: n.mac, MTU: n.mtu}); err != nil {
			panic(err)
		}
	})
	l.begin()
}

// crash ends a life without a word; the next begins after a while.
func (n *node) crash(down time.Duration) {
	l := n.life
	if l == nil {
		return
	}
	n.w.report.Crashes++
	n.w.tracef("node %d crashes", n.idx)
	l.end()
	n.w.clock.after(down, n.start)
}

func (l *life) end() {
	l.n.w.tally(l)
	l.dead = true
	l.n.life = nil
	for i := range l.peers {
		l.closeSession(&l.peers[i])
	}
	for _, p := range l.ports {
		p.closed = true
	}
}

func (l *life) closeSession(c *contact) {
	if c.cur != nil {
		c.cur.ended = true
		l.ended++
		c.cur = nil
	}
}

// wake has the node turn soon.
func (l *life) wake() {
	l.lapBy(l.n.w.clock.now + time.Duration(2+l.n.w.net.r.IntN(10))*time.Microsecond)
}

func (l *life) lapBy(t time.Duration) {
	t = max(t, l.n.paused, l.n.w.clock.now)
	if l.dead || t >= l.lapAt {
		return
	}
	l.lapAt = t
	l.n.w.clock.at(t, func() {
		if !l.dead && l.lapAt == t {
			l.lap()
		}
	})
}

// lap turns the node once: frames in, timers, frames out.
func (l *life) lap() {
	w := l.n.w
	l.lapAt = flowctl.Never
	if w.clock.now < l.n.paused {
		l.lapBy(l.n.paused)
		return
	}
	for _, a := range l.dev.receive(64) {
		l.frame(a)
		if a.p.rec != nil && !w.cfg.Hostile {
			l.twice(a.p)
		}
		a.buf.Release()
	}
	if w.clock.now >= l.eng.Deadline() {
		l.call(nothing, func() { l.eng.HandleTimeout(w.clock.now) })
	}
	l.release()
	l.finish()
}

// do makes a call of a user's: a turn without reception.
func (l *life) do(call func()) {
	l.call(nothing, call)
	l.release()
	l.finish()
}

// finish gives frames to the device, lets fast readers read, checks, and plans
// the next lap.
func (l *life) finish() {
	w := l.n.w
	w.report.Steps++
	for _, p := range l.ports {
		if p.readEvery == 0 || w.calm {
			p.read(1 << 30)
		}
	}
	l.flush()
	if w.mutate(LeakChunk) {
		l.arena.Get(64, frame.Control)
	}
	l.checkWaiting()
	l.checkChunks()
	l.lapBy(l.eng.Deadline())
	if len(l.dev.rx) > 0 {
		l.wake()
	}
}

func (l *life) flush() {
	for len(l.out) > 0 {
		n := l.dev.transmit(l.out)
		for _, o := range l.out[:n] {
			o.buf.Release()
		}
		l.out = l.out[n:]
		if n == 0 {
			l.lapBy(l.dev.next())
			return
		}
	}
	l.out = nil
}

// take is called for each frame a device takes.
func (w *world) take(l *life, o outgoing) {
	l.spoilBundle(o)
	b := o.buf.Bytes()
	if o.rec != nil && w.cfg.Mutation == AckTooMuch && len(b) > 60 && o.rec.up && w.mutate(AckTooMuch) {
		frame.StampAcks(b[frame.EthernetLen:], frame.Seq(o.rec.whole+3), 0)
	}
	if o.rec != nil && w.cfg.Mutation == BreakFrame && w.mutate(BreakFrame) {
		b[frame.EthernetLen+1] |= 0x01 // bit 16 of word 0 makes it longer than it is
	}
	w.report.Frames++
	w.note('f', b, uint64(l.serial))
	if w.cfg.Trace != nil {
		line, _ := frame.Describe(b[frame.EthernetLen:])
		w.tracef("node %d: %s", l.n.idx, line)
	}
	if !w.cfg.Hostile {
		l.checkFrame(b, o.rec)
	}
	w.net.carry(&packet{bytes: append([]byte(nil), b...), from: l, rec: o.rec})
}
