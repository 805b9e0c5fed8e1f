// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/engine"
)

// A Link is how the link to another node stands.
type Link struct {
	Peer      NodeAddr
	Identity  Identity
	Name      string // empty while the link never was up
	Up        bool
	MTU       int // bytes
	Tolerance time.Duration
	Window    int // packets that may be unacknowledged
	Unacked   int // packets that are
	Backlog   int // packets that wait behind them
	flowctl.Counters
}

// Stats are what a node has done since it was opened.
type Stats struct {
	engine.Counters
	ChunksFree, ChunksTotal       int
	DeviceDropsIn, DeviceDropsOut uint64
}

// Names returns every binding the node knows: by type, then lower bound.
func (n *Node) Names() []Binding {
	n.mu.Lock()
	defer n.unlock()
	return slices.Collect(n.eng.Bindings)
}

// Links returns the links to all nodes known, by address.
func (n *Node) Links() []Link {
	n.mu.Lock()
	defer n.unlock()
	var all []Link
	for s := range n.eng.Peers() {
		all = append(all, Link(s))
	}
	return all
}

// Stats returns a snapshot.
func (n *Node) Stats() Stats {
	n.mu.Lock()
	defer n.unlock()
	s := Stats{Counters: n.eng.Counters(), ChunksFree: n.arena.Free(), ChunksTotal: n.arena.Total()}
	for _, a := range n.attached {
		in, out := a.dev.Dropped()
		s.DeviceDropsIn += in
		s.DeviceDropsOut += out
	}
	return s
}
