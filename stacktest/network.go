// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// MinDelay is what every frame takes in a bubble, at least. All that a node does at one instant
// follows then from what reached it before that instant, in whatever order the goroutines
// of the nodes run.
const MinDelay = 10 * time.Microsecond

// A network is the networks of a cluster, one for each bearer, the paths on them, and what is under
// way.
type network struct {
	began time.Time
	least time.Duration // that a frame takes
	mtu   int           // in bytes

	mu    sync.Mutex // guards all below, and the ports
	paths [][][]path // by bearer, sender and receiver
	ports [][]*port  // by bearer and node; nil: there is none
	spare [][]byte   // memory for frames
}

// A path is what frames of one node take to another on one bearer.
type path struct {
	cut   bool
	loss  float64       // the share of frames that is lost, 0 to 1
	delay time.Duration // of those that are not
	dice  *rand.Rand
	last  time.Duration // when the frame that was sent last arrives: none overtakes another
}

func newNetwork(cfg Config, nodes int, bubble bool) *network {
	n := &network{began: time.Now(), mtu: 1500}
	if cfg.MTU > 0 {
		n.mtu = cfg.MTU
	}
	if bubble {
		n.least = MinDelay
	}
	for b := range cfg.Bearers {
		from := make([][]path, nodes)
		for i := range from {
			from[i] = make([]path, nodes)
			for j := range from[i] {
				from[i][j] = path{delay: n.least, dice: rand.New(rand.NewPCG(cfg.Seed, mix(0, uint64(b), uint64(i), uint64(j))))}
			}
		}
		n.paths = append(n.paths, from)
		n.ports = append(n.ports, make([]*port, nodes))
	}
	return n
}

func (n *network) now() time.Duration { return time.Since(n.began) }

// longest is the length of the longest frame, in bytes.
func (n *network) longest() int { return n.mtu + frame.EthernetLen }

// station is the address of a node on a bearer.
func station(bearer, node int) frame.MAC {
	return frame.MAC{2, 0, 0, byte(bearer), byte((node + 1) >> 8), byte(node + 1)}
}

// nodeOf is the node that has an address on a bearer; -1: none has.
func (n *network) nodeOf(bearer int, addr frame.MAC) int {
	i := int(addr[4])<<8 + int(addr[5]) - 1
	if i < 0 || i >= len(n.ports[bearer]) || addr != station(bearer, i) {
		return -1
	}
	return i
}

// port plugs a node in. Errors: hub.ErrAddressInUse.
func (n *network) port(bearer, node int) (*port, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[bearer][node] != nil {
		return nil, fmt.Errorf("%w: %v", hub.ErrAddressInUse, station(bearer, node))
	}
	p := &port{net: n, bearer: bearer, node: node}
	n.ports[bearer][node] = p
	return p, nil
}

// send sends a frame on one path. The network is locked.
func (n *network) send(bearer, from, to int, now time.Duration, data []byte) {
	x := &n.paths[bearer][from][to]
	lost := x.loss > 0 && x.dice.Float64() < x.loss
	q := n.ports[bearer][to]
	if lost || x.cut || q == nil || !q.attached() {
		return
	}
	x.last = max(x.last, now+x.delay)
	q.enqueue(underWay{at: x.last, from: from}, now, data)
}

// copyOf returns a copy of a frame, in memory that is given back with recycle. The network is locked.
func (n *network) copyOf(data []byte) []byte {
	last := len(n.spare) - 1
	if last < 0 {
		return append(make([]byte, 0, n.longest()), data...)
	}
	b := n.spare[last]
	n.spare = n.spare[:last]
	return append(b[:0], data...)
}

func (n *network) recycle(b []byte) { n.spare = append(n.spare, b) }

// parted reports whether two nodes cannot meet, as there is no bearer without a cut between them.
func (n *network) parted(i, j int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, from := range n.paths {
		if !from[i][j].cut && !from[j][i].cut {
			return false
		}
	}
	return true
}
