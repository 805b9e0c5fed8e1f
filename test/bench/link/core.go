// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/test/bench/sheet"
)

// batch is how many messages are sent, and then received, between two looks at the
// clock: less than a window.
const batch = 32

// A core is two engines with a link, 64-byte messages from the first to the second, and
// nothing else: no device, no poll, no lock. Frames are copied from one's memory to the
// other's, as a wire would; that is nobody's cost.
type core struct {
	engines [2]*engine.Engine
	arenas  [2]*netdev.Arena
	now     time.Duration
	from    *engine.Port
	to      *engine.Port
	held    [2][]*netdev.Buffer // on their way from each
	data    [64]byte
	read    [64]byte
	missing int
}

// newCore makes contact.
func newCore() (*core, error) {
	c := &core{}
	for i := range c.engines {
		c.arenas[i] = netdev.NewArena(netdev.ArenaConfig{Small: 1024})
		e, err := engine.New(engine.Config{Address: frame.NodeAddr(0x1001001 + i), Arena: c.arenas[i], Chance: engine.NewSeeded(uint64(i), 1)})
		if err != nil {
			return nil, err
		}
		if _, err := e.AddBearer(0, engine.BearerConfig{Name: "eth0", MAC: frame.MAC{2, 0, 0, 0, 0, byte(i + 1)}, MTU: 1500}); err != nil {
			return nil, err
		}
		c.engines[i] = e
	}
	c.from, c.to = c.engines[0].OpenPort(engine.PortConfig{}), c.engines[1].OpenPort(engine.PortConfig{})
	for end := 10 * time.Second; c.now < end; c.tick() {
		for moved := true; moved; {
			moved = false
			for i := range c.engines {
				c.take(i)
				moved = c.carry(i) || moved
			}
		}
		if c.from.Send(c.now, c.to.Addr(), c.data[:]) == nil {
			c.take(0)
			c.carry(0)
			if n, _, ok := c.to.Read(c.read[:]); ok && n == len(c.data) {
				return c, nil
			}
		}
	}
	return nil, errors.New("two engines make no contact")
}

// tick goes to the next deadline.
func (c *core) tick() {
	c.now = max(c.now, min(c.engines[0].Deadline(), c.engines[1].Deadline()))
	for _, e := range c.engines {
		e.HandleTimeout(c.now)
	}
}

// take takes what an engine sends.
func (c *core) take(i int) {
	for f := c.engines[i].NextFrame(0); f != nil; f = c.engines[i].NextFrame(0) {
		c.held[i] = append(c.held[i], f)
	}
}

// wire turns what engine i has sent into frames in the other's memory.
func (c *core) wire(i int) {
	for k, f := range c.held[i] {
		g := c.arenas[1-i].Get(f.Len(), netdev.Control)
		if g == nil {
			c.missing++ // with 1024 chunks and a window of 50 it does not happen
			continue
		}
		copy(g.Extend(f.Len()), f.Bytes())
		f.Release()
		c.held[i][k] = g
	}
}

// hear gives an engine the frames of the other.
func (c *core) hear(i int) {
	for _, f := range c.held[1-i] {
		c.engines[i].HandleFrame(c.now, 0, f)
		f.Release()
	}
	c.held[1-i] = c.held[1-i][:0]
}

// carry brings an engine's frames to the other, and reports whether there were any.
func (c *core) carry(i int) bool {
	if len(c.held[i]) == 0 {
		return false
	}
	c.wire(i)
	c.hear(1 - i)
	for _, e := range c.engines {
		for _, ok := e.NextEvent(); ok; _, ok = e.NextEvent() {
		}
		e.TakeNameEvents(nil)
	}
	return true
}

// A cost is what a batch took at each end.
type cost struct{ send, receive time.Duration }

// turn sends a batch and receives it. To send is: the calls, the frames taken, and the
// acknowledgements that come back; to receive: the frames, the messages read, and the
// acknowledgements taken.
func (c *core) turn(ready []*engine.Port) (cost, error) {
	var t cost
	to := c.to.Addr()
	begin := time.Now()
	for range batch {
		if err := c.from.Send(c.now, to, c.data[:]); err != nil {
			return t, err
		}
	}
	c.engines[0].Flush(c.now)
	c.take(0)
	t.send = time.Since(begin)
	c.wire(0)
	begin = time.Now()
	c.hear(1)
	got := 0
	for _, _, ok := c.to.Read(c.read[:]); ok; _, _, ok = c.to.Read(c.read[:]) {
		got++
	}
	c.engines[1].TakeReady(ready[:0])
	c.take(1)
	t.receive = time.Since(begin)
	c.wire(1)
	begin = time.Now()
	c.hear(0)
	t.send += time.Since(begin)
	if got != batch || c.missing > 0 {
		return t, fmt.Errorf("%d of %d messages arrived", got, batch)
	}
	c.now += batch * 200 * time.Nanosecond
	if c.now >= min(c.engines[0].Deadline(), c.engines[1].Deadline()) {
		for range 3 { // probes, and their answers
			c.tick()
			for i := range c.engines {
				c.take(i)
				c.carry(i)
			}
		}
	}
	return t, nil
}

// calibrate is what one look at 64 words of memory takes, added up, in ns: what to
// compare machines and minutes by. It is frame's BenchmarkCalibrate.
func calibrate() float64 {
	x := make([]byte, 256)
	const n = 10_000
	best := time.Duration(1 << 62)
	var sum uint32
	for range 20 {
		begin := time.Now()
		for range n {
			for i := 0; i < len(x); i += 4 {
				sum += binary.BigEndian.Uint32(x[i:])
			}
		}
		best = min(best, time.Since(begin))
	}
	runtime.KeepAlive(sum) // keeps the loop
	return float64(best) / n
}

// The core's targets, in ns.
const coreTarget = 120

// coreRows measures the core, each message in a packet of its own and in bundles.
func coreRows(p Plan) []Row {
	alone, bundled, err := newCoreCosts(p)
	note := func(best float64, c coreCost) string {
		return fmt.Sprintf("at best %.0f ns; calibration loop %.0f ns", best, c.loop)
	}
	rows := []Row{
		{ID: "core-send", What: "64 B message, core alone, to send", Value: alone.send, Unit: "ns", Goal: AtMost, Target: coreTarget, Notes: note(alone.bestSend, alone)},
		{ID: "core-receive", What: "64 B message, core alone, to receive", Value: alone.receive, Unit: "ns", Goal: AtMost, Target: coreTarget, Notes: note(alone.bestReceive, alone)},
		{ID: "core-send-bundled", What: "the same in bundles, to send", Value: bundled.send, Unit: "ns", Notes: note(bundled.bestSend, bundled)},
		{ID: "core-receive-bundled", What: "the same in bundles, to receive", Value: bundled.receive, Unit: "ns", Notes: note(bundled.bestReceive, bundled)},
		{ID: "core-allocs", What: "allocations per message, core alone", Value: max(alone.allocs, bundled.allocs), Goal: AtMost, Target: noAllocs},
	}
	if err != nil {
		for i := range rows {
			rows[i].Error = err.Error()
		}
	}
	return rows
}

// noAllocs is what is called none: the run time itself allocates now and then.
const noAllocs = 0.0001

// A coreCost is what a message takes, in ns, and allocates; best is in the quickest of
// the groups.
type coreCost struct{ send, receive, bestSend, bestReceive, loop, allocs float64 }

func newCoreCosts(p Plan) (alone, bundled coreCost, err error) {
	if alone, err = measureCore(p.Batches, false); err == nil {
		bundled, err = measureCore(p.Batches, true)
	}
	return alone, bundled, err
}

// measureCore takes medians over groups of batches, so that what else runs on the
// machine counts little.
func measureCore(batches int, hold bool) (coreCost, error) {
	c, err := newCore()
	if err != nil {
		return coreCost{}, err
	}
	c.engines[0].Hold(hold)
	ready := make([]*engine.Port, 0, 8)
	const group = 100
	var send, receive []float64
	for range group { // warm
		if _, err := c.turn(ready); err != nil {
			return coreCost{}, err
		}
	}
	groups := max(3, batches/group)
	send, receive = make([]float64, 0, groups), make([]float64, 0, groups)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range groups {
		var sum cost
		for range group {
			t, err := c.turn(ready)
			if err != nil {
				return coreCost{}, err
			}
			sum.send += t.send
			sum.receive += t.receive
		}
		send = append(send, float64(sum.send)/(group*batch))
		receive = append(receive, float64(sum.receive)/(group*batch))
	}
	runtime.ReadMemStats(&after)
	return coreCost{
		sheet.Median(send), sheet.Median(receive), slices.Min(send), slices.Min(receive), calibrate(),
		float64(after.Mallocs-before.Mallocs) / float64(groups*group*batch),
	}, nil
}
