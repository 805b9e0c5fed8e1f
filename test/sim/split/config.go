// SPDX-License-Identifier: Apache-2.0

package split

import (
	"math/rand/v2"
	"time"
)

// A Config says what to simulate. Zero fields mean the defaults.
type Config struct {
	Peers   int    // other nodes, 1 to MaxPeers; default 63
	Engines int    // of the node; default 1
	Seed    uint64 // of everything that is left to chance
	Rounds  int    // of traffic; default 10
	Skewed  bool   // the peer of rank r has a share of the messages in proportion to 1/r, else all have the same
	Turns   bool   // peers are dealt to engines in turn, else by a hash of their address

	// Clock is read around each turn of an engine; default: none, and no times.
	Clock func() time.Duration

	Mutation Mutation // a deliberate mistake, to see the checks find it
}

// MaxPeers is the most peers of a node.
const MaxPeers = 255

// A Mutation is something wrong with the node, to see the checks find it.
type Mutation uint8

const (
	None           Mutation = iota
	WrongEngine             // one frame of fifty goes to an engine that does not have its peer
	PrivateNumbers          // each engine gives sockets numbers of its own
	OneEngineBinds          // the node's names are bound in the first engine alone
	ForgetsNames            // the directory keeps names that were withdrawn
	SendsTwice              // the first engine sends a multicast twice
	Reverses                // two datagrams change places before they are sent
)

const (
	delay     = 50 * time.Microsecond // of a frame
	roundGap  = time.Millisecond      // between two rounds
	bootLimit = 20 * time.Second      // for all to know all
	endLimit  = 2 * time.Second       // for what is under way in the end to arrive
	mtu       = 1500
	size      = 64 // bytes of a message
	sockets   = 4  // of the node, that send and receive datagrams
)

func (c Config) withDefaults() Config {
	if c.Peers == 0 {
		c.Peers = 63
	}
	c.Peers = min(max(c.Peers, 1), MaxPeers)
	c.Engines = max(c.Engines, 1)
	if c.Rounds == 0 {
		c.Rounds = 10
	}
	return c
}

// engineOf is the engine of a peer.
func (c Config) engineOf(peer int) int {
	if c.Turns {
		return peer % c.Engines
	}
	return int(hash(uint32(peerAddr)+uint32(peer)) % uint32(c.Engines))
}

// hash mixes all bits of an address, as the end of MurmurHash3 does.
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

const (
	burst     = 4  // messages of each kind that are sent to a peer at once, at most
	evenShare = 8  // messages of each kind with each peer in a round
	mostShare = 96 // with the first peer, where they are not the same
)

// shares are how many messages of each kind each peer has in a round.
func (c Config) shares(r *rand.Rand) []int {
	all := make([]int, c.Peers)
	for rank, p := range r.Perm(c.Peers) {
		all[p] = evenShare
		if c.Skewed {
			all[p] = max(1, mostShare/(rank+1))
		}
	}
	return all
}
