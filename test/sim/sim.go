// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

const (
	maxNodes        = 5
	defaultDuration = 20 * time.Second
	defaultCalm     = 90 * time.Second
	maxPause        = 3 * time.Second // of a node's process
)

// A world is one run.
type world struct {
	cfg      Config
	faults   Faults
	maxDelay time.Duration // the longest life of a frame in the network
	clock    clock
	net      network
	nodes    []*node
	byAddr   map[frame.NodeAddr]*node
	messages []*message
	work     *rand.Rand
	holds    *rand.Rand // who holds messages back
	lives    int
	calm     bool // the faults are over, no new work
	closing  bool // the nodes have left
	report   Report

	occasions int // for the mutation
	stray     *message

	talk    *Conversation // all that is sent
	scratch [2048]byte
}

// Run simulates. It never fails: what is wrong is among the Report's Violations.
func Run(cfg Config) Report {
	if cfg.Duration == 0 {
		cfg.Duration = defaultDuration
	}
	if cfg.Calm == 0 {
		cfg.Calm = defaultCalm
	}
	w := &world{cfg: cfg, byAddr: map[frame.NodeAddr]*node{}, talk: NewConversation(frame.DefaultNetID)}
	w.report.Seed = cfg.Seed
	mix := w.rand(1)
	if cfg.Nodes == 0 {
		w.cfg.Nodes = 2 + mix.IntN(maxNodes-1)
	}
	w.cfg.Nodes = min(max(w.cfg.Nodes, 2), maxNodes)
	if cfg.Faults != nil {
		w.faults = *cfg.Faults
	} else {
		w.faults = Mix(mix)
	}
	if w.faults.Tolerance == 0 {
		w.faults.Tolerance = flowctl.DefaultTolerance
	}
	w.talk.Slack = maxPause + w.faults.Device.StallFor + time.Second
	w.maxDelay = max(time.Microsecond, min(w.faults.MaxDelay, w.faults.Tolerance/12))
	w.report.Faults = fmt.Sprintf("%d nodes, %+v", w.cfg.Nodes, w.faults)
	w.work, w.holds = w.rand(2), w.rand(4)
	w.net = network{w: w, r: w.rand(3)}
	w.build()
	w.plan()
	w.clock.run(cfg.Duration, w.stop)
	w.heal()
	w.clock.run(cfg.Duration+cfg.Calm, w.stop)
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
	w.report.Simulated = w.clock.now
	w.sum()
	return w.report
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

func (w *world) stop() bool { return len(w.report.Violations) >= maxViolations }

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
		n := &node{w: w, idx: i, mac: frame.MAC{2, 0, 0, 0, 0, byte(i + 1)}, addr: frame.NodeAddr(0x1001001 + i), mtu: 1500}
		if w.faults.MixedMTU {
			n.mtu = []int{1500, 3800, 600, 1500}[w.work.IntN(4)]
		}
		w.nodes = append(w.nodes, n)
		w.byAddr[n.addr] = n
		w.clock.at(time.Duration(w.work.Int64N(int64(time.Second))), n.start)
	}
}

// every does something again and again, about as often as mean says, until calm.
func (w *world) every(mean time.Duration, do func()) {
	if mean <= 0 {
		return
	}
	w.clock.after(time.Duration(w.work.Int64N(int64(2*mean)))+1, func() {
		if !w.calm {
			do()
			w.every(mean, do)
		}
	})
}

// plan sets up the faults.
func (w *world) plan() {
	f := &w.faults
	w.every(f.Partition, func() {
		w.report.Partitions++
		w.net.split(w.net.r.Float64() < f.OneWay)
		w.tracef("partition %v", w.net.cut)
		w.clock.after(time.Duration(w.net.r.Int64N(int64(2*f.Partition)))+1, w.net.heal)
	})
	for _, n := range w.nodes {
		w.every(f.Crash*time.Duration(len(w.nodes)), func() { n.crash(time.Duration(w.work.Int64N(int64(4 * time.Second)))) })
		w.every(f.Pause*time.Duration(len(w.nodes)), func() {
			n.paused = w.clock.now + time.Duration(w.work.Int64N(int64(maxPause)))
		})
		w.every(f.Device.Stall*time.Duration(len(w.nodes)), func() {
			if n.life != nil {
				n.life.dev.full = w.clock.now + time.Duration(w.work.Int64N(int64(f.Device.StallFor)))
			}
		})
	}
	if w.cfg.Hostile {
		w.every(10*time.Millisecond, w.inject)
	}
}

// heal ends the faults and the work; what was begun is finished.
func (w *world) heal() {
	w.calm = true
	w.net.heal()
	f := &w.faults
	f.Loss, f.Duplicate, f.Reorder, f.Device.Late = 0, 0, 0, 0
	for _, n := range w.nodes {
		n.paused = 0
		if n.life == nil {
			n.start()
			continue
		}
		n.life.dev.full, n.life.dev.Late = 0, 0
		n.life.wake()
		for _, p := range n.life.ports {
			p.readSoon()
		}
	}
}
