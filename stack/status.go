// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net/netip"

	"github.com/utipc/utipc/stack/engine"
)

// Stats are what a node has done since it was opened.
type Stats struct {
	engine.Counters
	Sockets                       int // of the node, its own included
	ChunksFree, ChunksTotal       int
	Kept                          int // bytes that other nodes make it keep: packets before their turn, and fragments
	DeviceDropsIn, DeviceDropsOut uint64
	WakeUps                       uint64 // times that a goroutine which turns the node went on after a sleep
}

// Names returns every binding the node knows: by type, then lower bound.
func (n *Node) Names() []Binding { return n.b.Names() }

// Stats returns a snapshot.
func (n *Node) Stats() Stats { return n.b.Stats() }

// Carried is what went over a bearer since the node was opened, in frames. A bearer
// that drops is short of room: its interface, or this node, is too slow. One that
// does not, and a link over it that loses (Link.Retransmits, Link.Deferred) or ends by
// silence (Link.Ended): then it is the network, or the peer.
type Carried struct {
	FramesIn, FramesOut uint64
	DropsIn, DropsOut   uint64 // frames the device lost, on their way in and out
}

// A BearerStatus is how a bearer stands.
type BearerStatus struct {
	Name   string
	Medium string // "eth" or "udp"
	MTU    int    // bytes of a message; 0: the interface is down
	Unsent int    // frames the device has not taken
	BearerState
	Carried
	Links         LinkConfig     // what new links begin with
	Local, Remote netip.AddrPort // over UDP: the own address, and the group or first host that broadcasts go to
}

// Waiting reports whether the bearer is wanted and has no device, as its interface is not
// there or cannot be used.
func (b *BearerStatus) Waiting() bool { return b.Links.Priority == 0 }

// Bearers returns the node's bearers, in the order in which they were enabled, and after
// them those that are wanted and wait for their interface.
func (n *Node) Bearers() []BearerStatus { return n.b.Bearers() }
