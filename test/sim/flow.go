// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A Flow is one node sending to another as fast as it may. It is for goodput: nothing
// is checked on the way but what the receiver reads, so that a million messages take a
// second or two. Zero fields mean the defaults.
type Flow struct {
	Seed     uint64
	Networks int // 1 or 2; default 1
	Messages int
	Size     int  // of each, in bytes, at least 16; default 1400
	NoBlocks bool // no gap-ack blocks, as of older nodes
	Ring     int  // frames a device takes before they have left; default 256
	Faults   Faults
}

// Gigabit is a wire of 1 Gbit/s and 100 µs there and back.
var Gigabit = Wire{Rate: 1_000_000_000, Delay: 47 * time.Microsecond}

// A FlowReport is what came of a Flow.
type FlowReport struct {
	Elapsed              time.Duration // from the first message to the last
	Delivered            int
	Lost                 int // though there was contact all the time
	LostWithContact      int
	Doubled, Reordered   int
	Resets, LostContacts int
	Frames, FramesLost   uint64
	Retransmits          uint64
	Chunks               uint64 // refused
	Stuck                bool   // it came to no end
	sizes                int
	reason               bool // there was one for losing contact
}

// Goodput is the rate at which messages arrived, in bytes of data a second.
func (r *FlowReport) Goodput() float64 {
	return float64(r.Delivered) * float64(r.sizes) / r.Elapsed.Seconds()
}

// Violations is the number of messages that were not delivered as they must be, how
// often contact was lost for no reason, and 1 for a flow that came to no end.
func (r *FlowReport) Violations() int {
	n := r.Lost + r.Doubled + r.Reordered
	if r.Stuck {
		n++
	}
	if !r.reason {
		n += r.LostContacts
	}
	return n
}

// flowTime is how long a flow may take, beside what its messages take without faults.
const flowTime = 10 * time.Minute

// A flow is a running Flow. Node 0 sends, node 1 receives.
type flow struct {
	Flow
	clock  clock // of faults
	now    time.Duration
	ends   [2]flowEnd
	pipes  [maxNetworks][2]pipe // from node 0, from node 1
	report FlowReport

	next    uint64 // message to send
	blocked bool
	begun   time.Duration
	last    uint64   // message read last
	read    []uint64 // bits: which were read
	data    []byte
	buf     []byte
}

// A flowEnd is a node.
type flowEnd struct {
	eng     *engine.Engine
	arena   *netdev.Arena
	r       *rand.Rand
	port    *engine.Port
	paused  time.Duration
	starved time.Duration
}

// Run simulates the flow.
func (c Flow) Run() FlowReport {
	f := newFlow(c)
	limit := flowTime + time.Duration(f.Messages)*20*time.Microsecond
	for !f.done() {
		t := f.nextTime()
		if t > limit {
			f.report.Stuck = true
			break
		}
		f.now = t
		f.clock.run(t, func() bool { return false })
		for i := range f.ends {
			f.turn(i)
		}
	}
	f.sum()
	return f.report
}

func newFlow(c Flow) *flow {
	c.Networks = min(max(c.Networks, 1), maxNetworks)
	if c.Size == 0 {
		c.Size = 1400
	}
	if c.Ring == 0 {
		c.Ring = 256
	}
	f := &flow{Flow: c, data: make([]byte, max(c.Size, 16)), buf: make([]byte, max(c.Size, 16)+1)}
	f.read = make([]uint64, c.Messages/64+1)
	f.report.sizes, f.report.reason = c.Size, true
	for n := range c.Networks {
		if f.Faults.unharmed(n) {
			f.report.reason = false
		}
	}
	for i := range f.ends {
		f.start(i)
	}
	for n := range c.Networks {
		for d := range f.pipes[n] {
			f.pipes[n][d] = pipe{
				f: f, faults: &f.Faults.Net[n], forth: d == 0, to: 1 - d, net: n,
				r: rand.New(rand.NewPCG(c.Seed, uint64(10+2*n+d))),
			}
		}
	}
	f.plan()
	return f
}

func (f *flow) start(i int) {
	e := &f.ends[i]
	e.r = rand.New(rand.NewPCG(f.Seed, uint64(100+i)))
	ac := netdev.ArenaConfig{Small: 20_000}
	if f.Faults.Refuse > 0 || f.Faults.Starve > 0 {
		ac.Poison, ac.Small = true, 4096
		ac.Refuse = func(netdev.Use) bool {
			if f.now < e.starved || f.Faults.Refuse > 0 && e.r.Float64() < f.Faults.Refuse {
				f.report.Chunks++
				return true
			}
			return false
		}
	}
	e.arena = netdev.NewArena(ac)
	var err error
	e.eng, err = engine.New(f.engineConfig(i))
	if err != nil {
		panic(err)
	}
	for n := range f.Networks {
		_, err := e.eng.AddBearer(0, engine.BearerConfig{Name: "eth" + strconv.Itoa(n), MAC: flowMAC(n, i), MTU: 1500})
		if err != nil {
			panic(err)
		}
	}
	// One of an even number sends over the first network.
	for e.port == nil || e.port.Addr().Port&1 == 1 {
		e.port = e.eng.OpenPort(engine.PortConfig{Importance: frame.Low, ReceiveLimit: 1 << 26})
	}
}

func flowMAC(net, i int) frame.MAC { return frame.MAC{2, 0, 0, 0, byte(net), byte(i + 1)} }

// done reports whether everything was sent, and acknowledged, and read.
func (f *flow) done() bool {
	return f.next >= uint64(f.Messages) && f.ends[0].eng.Unsent() == 0 && f.ends[1].port.Pending() == 0 && f.begun > 0
}

// nextTime is when the next thing happens.
func (f *flow) nextTime() time.Duration {
	t := flowctl.Never
	if len(f.clock.heap) > 0 {
		t = f.clock.heap[0].at
	}
	for i := range f.ends {
		e := &f.ends[i]
		due := e.eng.Deadline()
		for n := range f.Networks {
			if in := &f.pipes[n][1-i]; in.queue.Len() > 0 {
				due = min(due, in.queue.At(0).at)
			}
			if out := &f.pipes[n][i]; out.waits {
				due = min(due, out.wire.ends[0])
			}
		}
		t = min(t, max(due, e.paused))
	}
	return max(t, f.now)
}

// turn has a node do what is due: frames in, timers, messages, frames out.
func (f *flow) turn(i int) {
	e := &f.ends[i]
	if f.now < e.paused {
		return
	}
	for n := range f.Networks {
		in := &f.pipes[n][1-i]
		for in.queue.Len() > 0 && in.queue.At(0).at <= f.now {
			b := in.queue.Pop().b
			e.eng.HandleFrame(f.now, n, b)
			b.Recycle()
		}
	}
	e.eng.HandleTimeout(f.now)
	f.events(i)
	if i == 0 {
		f.send()
	} else {
		f.receive()
	}
	for n := range f.Networks {
		f.pipes[n][i].fill(e.eng)
	}
}

func (f *flow) events(i int) {
	for ev, ok := f.ends[i].eng.NextEvent(); ok; ev, ok = f.ends[i].eng.NextEvent() {
		switch ev.Kind {
		case engine.Room, engine.PeerUp:
			f.blocked = f.blocked && i == 1
			if i == 0 && f.begun == 0 && ev.Kind == engine.PeerUp {
				f.begun = f.now
			}
		case engine.LinkDown:
			f.report.Resets++
		case engine.PeerLost:
			if i == 0 {
				f.report.LostContacts++
			}
		}
	}
}

// send sends as much as the link takes.
func (f *flow) send() {
	if f.begun == 0 {
		return
	}
	p, to := f.ends[0].port, f.ends[1].port.Addr()
	for !f.blocked && f.next < uint64(f.Messages) {
		binary.LittleEndian.PutUint64(f.data, f.next+1)
		binary.LittleEndian.PutUint64(f.data[len(f.data)-8:], mark(f.next+1))
		switch err := p.Send(f.now, to, f.data); {
		case err == nil:
			f.next++
		case errors.Is(err, engine.ErrMemory): // tried again with the next turn
			return
		default: // an event will come: room, or contact
			f.blocked = true
		}
	}
}

func mark(n uint64) uint64 { return n * 0x9e3779b97f4a7c15 }

// receive reads what has come.
func (f *flow) receive() {
	p := f.ends[1].port
	for p.Pending() > 0 {
		k, _, _ := p.Read(f.buf)
		n := binary.LittleEndian.Uint64(f.buf)
		if k != len(f.data) || n == 0 || n > f.next || binary.LittleEndian.Uint64(f.buf[k-8:]) != mark(n) {
			f.report.Doubled++ // it is none of ours
			continue
		}
		bit := uint64(1) << (n % 64)
		if f.read[n/64]&bit != 0 {
			f.report.Doubled++
			continue
		}
		f.read[n/64] |= bit
		if n < f.last {
			f.report.Reordered++
		}
		f.last = max(f.last, n)
		f.report.Delivered++
		f.report.Elapsed = f.now - f.begun
	}
}

// sum counts at the end.
func (f *flow) sum() {
	lost := int(f.next) - f.report.Delivered
	if f.report.LostContacts > 0 {
		f.report.LostWithContact = lost
	} else {
		f.report.Lost = lost
	}
	for p := range f.ends[0].eng.Peers(f.now) {
		f.report.Retransmits += p.Retransmits
	}
}

// plan sets up the faults that come and go.
func (f *flow) plan() {
	r := rand.New(rand.NewPCG(f.Seed, 5))
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) + 1 }
	var every func(mean time.Duration, do func())
	every = func(mean time.Duration, do func()) {
		if mean > 0 {
			f.clock.after(upTo(2*mean), func() {
				do()
				every(mean, do)
			})
		}
	}
	for i := range f.ends {
		e := &f.ends[i]
		every(2*f.Faults.Pause, func() { e.paused = f.clock.now + upTo(f.Faults.PauseFor) })
		every(2*f.Faults.Starve, func() { e.starved = f.clock.now + upTo(f.Faults.StarveFor) })
	}
	for n := range f.Networks {
		c := f.Faults.Net[n]
		every(c.Partition, func() {
			one := r.Float64() < c.OneWay
			for d := range f.pipes[n] {
				f.pipes[n][d].cut = !one || d == 0
			}
			f.clock.after(upTo(2*c.Partition), func() {
				f.pipes[n][0].cut, f.pipes[n][1].cut = false, false
			})
		})
		every(c.Flap, func() { f.flap(n, r.IntN(3), upTo(c.FlapFor)) })
	}
}

// flap takes a network from one of the nodes, or from both silently, for a while.
func (f *flow) flap(net, who int, d time.Duration) {
	if who == 2 {
		f.pipes[net][0].gone, f.pipes[net][1].gone = true, true
		f.clock.after(d, func() { f.pipes[net][0].gone, f.pipes[net][1].gone = false, false })
		return
	}
	e := &f.ends[who]
	f.pipes[net][1-who].clear()
	e.eng.SetMTU(f.clock.now, net, 0)
	f.clock.after(d, func() { e.eng.SetMTU(f.clock.now, net, 1500) })
}
