// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

const (
	nodeAddr = frame.NodeAddr(0x1001000)
	peerAddr = nodeAddr + 1 // of peer 0
)

var nodeMAC = frame.MAC{2, 0, 0, 0, 1, 0}

func peerMAC(i int) frame.MAC { return frame.MAC{2, 0, 0, 0, 0, byte(i)} }

// A world is a running simulation.
type world struct {
	Config
	now       time.Duration
	r         *rand.Rand // of the traffic: the same, however many engines there are
	arena     *netdev.Arena
	parts     []*host // the node's engines
	peers     []*host
	air       flowctl.Queue[flight]
	bytes     [][]byte // of frames that have arrived, to be used again
	directory *naming.Table
	shared    Cost          // of the directory
	reading   time.Duration // what a reading of the clock takes
	flows     map[pair]*flow
	bound     map[uint32]bool   // instances of changing names, of peers and of the node
	numbers   map[uint32]uint32 // of the node's sockets
	carried   int               // frames handed to the node
	report    Report
}

// A flight is a frame on its way.
type flight struct {
	at time.Duration
	to *host
	b  []byte
}

func newWorld(c Config) *world {
	c = c.withDefaults()
	w := &world{
		Config: c, r: rand.New(rand.NewPCG(c.Seed, 99)), directory: naming.NewTable(nodeAddr),
		arena: netdev.NewArena(netdev.ArenaConfig{Small: max(8192, 256*c.Peers), Reserve: 64}),
		flows: map[pair]*flow{}, bound: map[uint32]bool{}, numbers: map[uint32]uint32{},
	}
	w.directory.Limit = 1 << 16
	w.calibrate()
	for i := range c.Engines {
		w.parts = append(w.parts, w.newHost(i, true, nodeAddr, nodeMAC))
	}
	for i := range c.Peers {
		w.peers = append(w.peers, w.newHost(i, false, peerAddr+frame.NodeAddr(i), peerMAC(i)))
	}
	return w
}

// part is the engine of the node that has a peer.
func (w *world) part(peer int) *host { return w.parts[w.engineOf(peer)] }

// timed is how long f takes by the clock.
func (w *world) timed(f func()) time.Duration {
	if w.Clock == nil {
		f()
		return 0
	}
	began := w.Clock()
	f()
	return w.Clock() - began - w.reading
}

// calibrate measures what a reading of the clock takes: the least that there is between two.
func (w *world) calibrate() {
	if w.Clock == nil {
		return
	}
	least := time.Hour
	for range 1000 {
		least = min(least, w.timed(func() {}))
	}
	w.reading = least
}

// carry brings a frame on its way: to the peer that it is for, to each of the engine's peers if it is for
// a group, or to the engine that has the peer.
func (w *world) carry(from *host, b []byte) {
	switch {
	case !from.node:
		to := w.part(from.idx)
		if w.carried++; w.Mutation == WrongEngine && w.carried%50 == 0 {
			to = w.parts[(to.idx+1)%len(w.parts)]
		}
		w.fly(to, b)
	case frame.MAC(b[:6]).IsGroup():
		for i, p := range w.peers {
			if w.part(i) == from {
				w.report.Frames++
				w.fly(p, b)
			}
		}
	default:
		w.report.Frames++
		to := int(b[5])
		if frame.MAC(b[:6]) != peerMAC(to) || to >= len(w.peers) || w.part(to) != from {
			w.violate("engine %d sends a frame to %v, which is none of its peers", from.idx, frame.MAC(b[:6]))
			return
		}
		w.fly(w.peers[to], b)
	}
}

func (w *world) fly(to *host, b []byte) {
	var c []byte
	if k := len(w.bytes); k > 0 {
		c, w.bytes = w.bytes[k-1], w.bytes[:k-1]
	}
	w.air.Push(flight{w.now + delay, to, append(c[:0], b...)})
}

// run lets time pass until end, or until stop says so, which is asked after each step; nil is never.
func (w *world) run(end time.Duration, stop func() bool) bool {
	for {
		at := flowctl.Never
		if w.air.Len() > 0 {
			at = w.air.At(0).at
		}
		for _, all := range [][]*host{w.parts, w.peers} {
			for _, h := range all {
				at = min(at, h.due())
			}
		}
		if at > end {
			w.now = end
			return false
		}
		w.now = max(w.now, at)
		for w.air.Len() > 0 && w.air.At(0).at <= w.now {
			w.land(w.air.Pop())
		}
		for _, all := range [][]*host{w.parts, w.peers} {
			for _, h := range all {
				h.turn()
			}
		}
		if stop != nil && stop() {
			return true
		}
	}
}

// land puts a frame into the memory of its receiver.
func (w *world) land(f flight) {
	b := w.arena.Get(len(f.b), netdev.Control)
	if b == nil {
		w.violate("at %v there is no memory for a frame", w.now)
		return
	}
	copy(b.Extend(len(f.b)), f.b)
	f.to.in = append(f.to.in, b)
	w.bytes = append(w.bytes, f.b)
}

// quiet lets time pass until no frame is on its way.
func (w *world) quiet() { w.run(w.now+roundGap, func() bool { return w.air.Len() == 0 }) }

const maxViolations = 20

func (w *world) violate(format string, args ...any) {
	if w.report.Violations++; len(w.report.Findings) < maxViolations {
		w.report.Findings = append(w.report.Findings, fmt.Sprintf("%d peers, %d engines, seed %d: ", w.Peers, w.Engines, w.Seed)+fmt.Sprintf(format, args...))
	}
}
