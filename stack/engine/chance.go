// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Chance makes every draw of an engine, a method for each kind, so that a run
// can be repeated from a seed and a recorded one from what was recorded.
type Chance interface {
	// Node is the node's own random number: its low 15 bits sign its discovery
	// messages.
	Node() uint32
	// NetHash stands for the network namespace in discovery; not 0.
	NetHash() uint32
	// Session begins a link endpoint's sessions.
	Session() frame.Seq
	// Port proposes a port number; it is drawn again when it is taken or 0.
	Port() uint32
	// Key tells a binding of this port apart from other bindings of the node.
	Key(port uint32) uint32
	// Retry is the random part of a pause, from 0 to most.
	Retry(most time.Duration) time.Duration
	// Nonce is where the numbers of a key begin, of which each is a nonce: none may
	// come again under the same key, so it must be as good as never the same.
	Nonce() uint64
	// Generation begins the generations of a node's keys.
	Generation() frame.Seq
	// Material fills key with what nobody can guess.
	Material(key []byte)
}

// Seeded is a Chance that draws everything from one generator, keys too: who knows the
// seed knows them. It is for simulations and tests.
type Seeded struct {
	r   *rand.Rand
	key uint32
}

// NewSeeded makes a Chance from a seed.
func NewSeeded(seed1, seed2 uint64) *Seeded {
	r := rand.New(rand.NewPCG(seed1, seed2))
	return &Seeded{r: r, key: r.Uint32()}
}

// Node implements Chance.
func (s *Seeded) Node() uint32 { return s.r.Uint32() }

// NetHash implements Chance.
func (s *Seeded) NetHash() uint32 { return s.r.Uint32() | 1 }

// Session implements Chance.
func (s *Seeded) Session() frame.Seq { return frame.Seq(s.r.Uint32()) }

// Port implements Chance.
func (s *Seeded) Port() uint32 { return s.r.Uint32() }

// Key implements Chance: keys count up, so that they are unique in the node, and
// none equals its port.
func (s *Seeded) Key(port uint32) uint32 {
	if s.key++; s.key == port {
		s.key++
	}
	return s.key
}

// Retry implements Chance.
func (s *Seeded) Retry(most time.Duration) time.Duration {
	return time.Duration(s.r.Int64N(int64(most) + 1))
}

// Nonce implements Chance.
func (s *Seeded) Nonce() uint64 { return s.r.Uint64() }

// Generation implements Chance.
func (s *Seeded) Generation() frame.Seq { return frame.Seq(s.r.Uint32()) }

// Material implements Chance.
func (s *Seeded) Material(key []byte) {
	for i := range key {
		key[i] = byte(s.r.Uint32())
	}
}
