// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/arenapool"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A node is a machine in the network; it lives any number of times.
type node struct {
	w       *world
	idx     int
	addr    frame.NodeAddr
	mac     [maxNetworks]frame.MAC
	mtu     [maxNetworks]int
	life    *life // nil while it is down
	paused  time.Duration
	starved time.Duration // gets no chunk until then
}

// A life of a node is one engine, from its start to its end.
type life struct {
	n      *node
	serial int
	chance *rand.Rand // which chunks it is refused
	eng    *engine.Engine
	arena  *netdev.Arena
	free   func()    // gives back the memory of arena
	dev    []*device // one in each network
	dead   bool
	pollAt time.Duration
	out    [maxNetworks][]outgoing // frames the device has not taken
	peers  [maxNodes]contact
	ports  []*port
	count  engine.Counters // at the last look

	watchdog watchdog

	ended      int // contacts
	forwards   []*message
	holds      bool                    // messages wait for Flush
	told       map[naming.Binding]bool // by name events
	nameBuf    []naming.Event
	castsIn    int      // multicasts put into ports in this call, of others
	castsLocal int      // and of this node
	marks      []uint32 // by chunk: the round in which it was seen held
	round      uint32
	discs      []time.Duration // when the latest discovery messages left
}

// An outgoing frame waits for the device.
type outgoing struct {
	buf *netdev.Buffer
	rec *session
}

// start begins a new life, with the same address and other chance.
func (n *node) start() {
	w := n.w
	if n.life != nil {
		return
	}
	w.lives++
	l := &life{n: n, serial: w.lives, pollAt: flowctl.Never, told: map[naming.Binding]bool{}, chance: w.rand(3000 + uint64(w.lives))}
	l.arena, l.free = arenapool.New(w.arenaConfig(l))
	l.marks = make([]uint32, l.arena.Total())
	l.watchdog.bark = func(format string, args ...any) {
		w.violate(5, "node %d: "+format, append([]any{n.idx}, args...)...)
	}
	var err error
	if l.eng, err = engine.New(w.engineConfig(l)); err != nil {
		panic(err)
	}
	for i := range w.nets {
		l.dev = append(l.dev, newDevice(l, i, w.faults.Device, w.faults.Chunks))
	}
	n.life = l
	w.tracef("node %d starts, life %d", n.idx, l.serial)
	l.do(func() {
		for i := range w.nets {
			b := engine.BearerConfig{Name: "eth" + strconv.Itoa(i), MAC: n.mac[i], MTU: n.mtu[i]}
			if _, err := l.eng.AddBearer(w.clock.now, b); err != nil {
				panic(err)
			}
		}
	})
	l.begin()
}

// refuses reports whether a chunk that is asked for is not given.
func (l *life) refuses() bool {
	w := l.n.w
	switch f := &w.faults; {
	case w.clock.now < l.n.starved, f.Refuse > 0 && l.chance.Float64() < f.Refuse:
		w.report.Refused++
		return true
	}
	return false
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
		c := &l.peers[i]
		for j := range c.ends {
			c.ends[j].close()
		}
		l.lose(c)
	}
	for _, p := range l.ports {
		p.closed = true
	}
}

// wake has the node turn soon.
func (l *life) wake() {
	l.pollBy(l.n.w.clock.now + time.Duration(2+l.n.w.nets[0].r.IntN(10))*time.Microsecond)
}

func (l *life) pollBy(t time.Duration) {
	t = max(t, l.n.paused, l.n.w.clock.now)
	if l.dead || t >= l.pollAt {
		return
	}
	l.pollAt = t
	l.n.w.clock.at(t, func() {
		if !l.dead && l.pollAt == t {
			l.pollOnce()
		}
	})
}

// pollOnce turns the node once: frames in, timers, frames out.
func (l *life) pollOnce() {
	w := l.n.w
	l.watchdog.begin()
	l.pollAt = flowctl.Never
	if w.clock.now < l.n.paused {
		l.pollBy(l.n.paused)
		return
	}
	for i, d := range l.dev {
		for _, a := range d.receive(64) {
			l.frame(i, a)
			if a.p.rec != nil && !w.cfg.Hostile {
				l.twice(i, a.p)
			}
			a.buf.Release()
		}
	}
	if w.clock.now >= l.eng.Deadline() {
		l.call(nothing, func() { l.eng.HandleTimeout(w.clock.now) })
	}
	l.release()
	l.finish()
}

// do makes a call of a user's: a turn without reception.
func (l *life) do(call func()) {
	l.watchdog.begin()
	l.call(nothing, call)
	l.release()
	l.finish()
}

// finish gives frames to the device, lets fast readers read, checks, and plans
// the next poll.
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
		l.arena.Get(64, netdev.Control)
	}
	l.checkWaiting()
	l.checkChunks()
	l.pollBy(l.eng.Deadline())
	for _, d := range l.dev {
		if len(d.rx) > 0 {
			l.wake()
		}
	}
}

func (l *life) flush() {
	for i := range l.dev {
		l.flushTo(i)
	}
}

func (l *life) flushTo(net int) {
	out := &l.out[net]
	for len(*out) > 0 {
		n := l.dev[net].transmit(*out)
		for _, o := range (*out)[:n] {
			o.buf.Release()
		}
		*out = (*out)[n:]
		if n == 0 {
			l.pollBy(l.dev[net].next())
			return
		}
	}
	*out = nil
}

// setCarrier has a device lose its network, with all that is on its way, or find it
// again.
func (l *life) setCarrier(net int, up bool) {
	mtu := 0
	if up {
		mtu = l.n.mtu[net]
	}
	l.dev[net].carrier(up)
	l.do(func() { l.eng.SetMTU(l.n.w.clock.now, net, mtu) })
	if !up {
		l.drop(net)
	}
}

// drop forgets the frames that wait for a device.
func (l *life) drop(net int) {
	for _, o := range l.out[net] {
		o.buf.Release()
	}
	l.out[net] = nil
}
