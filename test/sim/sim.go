// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

const (
	maxNodes        = 5
	defaultDuration = 4 * time.Second
	longDuration    = 12 * time.Second // of every sixteenth seed
	defaultCalm     = 90 * time.Second
	maxPause        = 3 * time.Second // of a node's process
)

// A world is one run.
type world struct {
	cfg      Config
	faults   Faults
	clock    clock
	nets     []*network
	first    frame.Seq // number of a link's first packet
	nodes    []*node
	byAddr   map[frame.NodeAddr]*node
	messages []*message
	work     *rand.Rand
	holds    *rand.Rand // who holds messages back
	lives    int
	unharmed [maxNetworks]bool // never give a reason for losing contact
	scarce   bool              // memory is refused, at times
	calm     bool              // the faults are over, no new work
	closing  bool              // the nodes have left
	report   Report

	occasions int // for the mutation
	stray     *message

	talk    *Conversation // all that is sent
	capture *layers.Writer
	scratch [frame.MaxMessage]byte
}

// Run simulates. It never fails: what is wrong is among the Report's Violations.
func Run(cfg Config) Report {
	w := newWorld(cfg)
	w.build()
	w.plan()
	w.clock.run(w.cfg.Duration, w.stop)
	if !w.cut() {
		w.end()
	}
	w.report.Simulated = w.clock.now
	w.sum()
	w.closeCapture()
	for _, n := range w.nodes {
		if n.life != nil { // a life that ended may have left frames with its devices
			n.life.free()
		}
	}
	return w.report
}

// newWorld draws what the Config leaves to the seed.
func newWorld(cfg Config) *world {
	w := &world{cfg: cfg, byAddr: map[frame.NodeAddr]*node{}, talk: NewConversation(frame.DefaultNetID)}
	w.report.Seed = cfg.Seed
	c := &w.cfg
	mix := w.rand(1)
	drawn := [...]int{2 + mix.IntN(maxNodes-1), 1 + mix.IntN(maxNetworks), mix.IntN(2), 1 + mix.IntN(200)}
	if c.Duration == 0 {
		c.Duration = defaultDuration
		if c.Seed%16 == 0 {
			c.Duration = longDuration
		}
	}
	if c.Calm == 0 {
		c.Calm = defaultCalm
	}
	if c.Nodes == 0 {
		c.Nodes = drawn[0]
	}
	c.Nodes = min(max(c.Nodes, 2), maxNodes)
	if c.Networks == 0 {
		c.Networks = drawn[1]
	}
	c.Networks = min(max(c.Networks, 1), maxNetworks)
	if w.first = c.FirstSeq; w.first == 0 {
		w.first = 1
		if drawn[2] == 1 {
			w.first = frame.Seq(65535 - drawn[3])
		}
	}
	w.talk.First = w.first
	if cfg.Faults != nil {
		w.faults = *cfg.Faults
	} else {
		w.faults = Mix(mix)
	}
	f := &w.faults
	w.scarce = f.Refuse > 0 || f.Starve > 0
	if f.Tolerance == 0 {
		f.Tolerance = flowctl.DefaultTolerance
	}
	if f.PauseFor == 0 {
		f.PauseFor = maxPause
	}
	w.talk.Slack = f.PauseFor + f.Device.StallFor + time.Second
	w.report.Faults = fmt.Sprintf("%d nodes, %d networks, numbers from %d, %+v", c.Nodes, c.Networks, w.first, *f)
	w.work, w.holds = w.rand(2), w.rand(4)
	for i := range c.Networks {
		w.unharmed[i] = f.unharmed(i)
		life := max(time.Microsecond, min(f.Net[i].MaxDelay, f.Tolerance/12))
		w.nets = append(w.nets, newNetwork(w, i, &f.Net[i], life, w.rand(3+1000*uint64(i))))
	}
	w.openCapture()
	return w
}

// end lets the faults end, and looks whether all gets well.
func (w *world) end() {
	w.heal()
	w.rest()
	// A receive ring of a few frames under a full window gets through some packets
	// a timer interval only: it is given time as long as it gets on.
	for left := w.unsent(); left > 0 && !w.cfg.Hostile && !w.stop(); {
		w.clock.run(w.clock.now+30*time.Second, w.stop)
		now := w.unsent()
		if now >= left {
			break
		}
		left = now
	}
	if !w.stop() {
		w.checkHealed()
		w.shutdown()
	}
}

// rest lets time pass until all is well, and a while longer, or as long as it may take;
// every sixteenth seed waits for all of that.
func (w *world) rest() {
	const step = 5 * time.Second
	end := w.clock.now + w.cfg.Calm
	for last := false; w.clock.now < end && !w.stop() && !last; {
		last = w.cfg.Seed%16 != 0 && w.well()
		w.clock.run(min(end, w.clock.now+step), w.stop)
	}
}

// unsent is the number of packets not acknowledged, in all nodes.
func (w *world) unsent() (n int) {
	for _, x := range w.nodes {
		if x.life != nil {
			n += x.life.eng.Unsent()
		}
	}
	return n
}

func (w *world) rand(n uint64) *rand.Rand { return rand.New(rand.NewPCG(w.cfg.Seed, n)) }

func (w *world) stop() bool { return len(w.report.Violations) >= maxViolations || w.cut() }

// cut reports whether the run ends before it is over, because that was asked for.
func (w *world) cut() bool { return w.cfg.Steps > 0 && w.report.Steps >= w.cfg.Steps }

// violate notes that an invariant does not hold; 0 is what must hold at the end.
func (w *world) violate(invariant int, format string, args ...any) {
	if w.cfg.Hostile && invariant != 4 && invariant != 5 {
		return
	}
	s := fmt.Sprintf(format, args...)
	if len(w.report.Violations) < maxViolations {
		w.report.Violations = append(w.report.Violations,
			fmt.Sprintf("invariant %d, seed %d, %v: %s", invariant, w.cfg.Seed, w.clock.now, s))
	}
	w.tracef("VIOLATION %d: %s", invariant, s)
}

func (w *world) tracef(format string, args ...any) {
	if w.cfg.Trace != nil {
		fmt.Fprintf(w.cfg.Trace, "%12.6f ", w.clock.now.Seconds())
		fmt.Fprintf(w.cfg.Trace, format, args...)
		fmt.Fprintln(w.cfg.Trace)
	}
}

// note brings something that happened into the hash.
func (w *world) note(kind byte, b []byte, more ...uint64) {
	h := w.report.Hash
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 32 }
	mix(uint64(kind))
	mix(uint64(w.clock.now))
	mix(uint64(crc32.Checksum(b, castagnoli))<<32 | uint64(len(b)))
	for _, v := range more {
		mix(v)
	}
	w.report.Hash = h
}

// build makes the nodes; they start within the first second.
func (w *world) build() {
	for i := range w.cfg.Nodes {
		n := &node{w: w, idx: i, addr: frame.NodeAddr(0x1001001 + i)}
		for j := range w.nets {
			n.mac[j], n.mtu[j] = frame.MAC{2, 0, 0, 0, byte(j), byte(i + 1)}, 1500
			if w.faults.MixedMTU {
				n.mtu[j] = []int{1500, 3800, 600, 1500}[w.work.IntN(4)]
			}
		}
		w.nodes = append(w.nodes, n)
		w.byAddr[n.addr] = n
		w.clock.at(time.Duration(w.work.Int64N(int64(time.Second))), n.start)
	}
}
