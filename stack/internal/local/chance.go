// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/testhook"
	"github.com/utipc/utipc/stack/engine"
)

// A chance makes a node's draws: those that only must differ from other nodes' come from
// a generator, those of keys from the operating system.
type chance struct{ *engine.Seeded }

var _ engine.Chance = chance{}

// newChance makes the draws of a node; one that a test opens may have all of them from a seed.
func newChance(h *testhook.Hook) engine.Chance {
	if h != nil {
		return engine.NewSeeded(h.Seed, 0)
	}
	return chance{engine.NewSeeded(mathrand.Uint64(), mathrand.Uint64())}
}

// Nonce implements engine.Chance.
func (chance) Nonce() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails: it ends the process first
	return binary.BigEndian.Uint64(b[:])
}

// Generation implements engine.Chance.
func (c chance) Generation() frame.Seq { return frame.Seq(c.Nonce()) }

// Material implements engine.Chance.
func (chance) Material(key []byte) { rand.Read(key) }
