// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// A Config says what to simulate: a cluster whose shape comes from its seed.
type Config struct {
	Seed     uint64
	Trace    io.Writer // what is done with keys, and what nodes tell, a line each; nil: nothing
	Mutation Mutation  // a deliberate mistake, to see the checks find it
}

// A Kind is which keys the nodes of a cluster have.
type Kind uint8

const (
	ClusterKey Kind = iota // one key for all, which the operator changes
	NodeKeys               // each node its own, which all others were given
	Master                 // a master key, and keys that nodes make themselves
	Both                   // a master key and one for all, and later the nodes' own
	First                  // none at first: the operator gives one to nodes at work
	Kinds
)

func (k Kind) String() string {
	return [...]string{"cluster key", "keys of nodes", "master key", "master and cluster key", "first key at work"}[k]
}

// master reports whether nodes have a master key.
func (k Kind) master() bool { return k == Master || k == Both }

// A shape is what a seed makes of a cluster.
type shape struct {
	Kind              Kind
	nodes, bearers    int
	loss, twice, late float64       // shares of frames, for each that hears them
	rekey             time.Duration // between keys that nodes make themselves; negative: never
	crashes           bool
	stranger          stranger
	migrate           bool
	lastWithout       bool // the last node is given its key late
	material          int  // bytes of a key
	busy              time.Duration
}

// A stranger is who meddles.
type stranger uint8

const (
	nobody   stranger = iota
	keyless           // a node without a key
	wrong             // one with another key
	repeater          // repeats, cuts and changes what it heard
	strangers
)

func (s stranger) String() string {
	return [...]string{"no stranger", "a stranger without a key", "a stranger with another key", "a stranger who repeats"}[s]
}

func (c Config) shape(r *rand.Rand) shape {
	s := shape{
		Kind: Kind(c.Seed % uint64(Kinds)), nodes: 3 + r.IntN(4), bearers: 1 + r.IntN(2),
		crashes: r.IntN(2) == 0, stranger: stranger(r.IntN(int(strangers))), migrate: r.IntN(3) == 0,
		lastWithout: r.IntN(4) == 0, material: 20 + 8*r.IntN(3), rekey: -1,
		busy: 70*time.Second + time.Duration(r.IntN(30))*time.Second,
	}
	if r.IntN(4) > 0 {
		s.loss, s.twice, s.late = 0.03*r.Float64(), 0.03*r.Float64(), 0.2*r.Float64()
	}
	if s.Kind.master() {
		s.rekey = 15*time.Second + time.Duration(r.IntN(20000))*time.Millisecond
	}
	if s.stranger == keyless { // who would make contact with one
		s.lastWithout = false
	}
	if s.Kind == First {
		s.crashes, s.lastWithout, s.stranger = false, false, nobody // as long as there is no key, a stranger is none
	}
	return s
}

func (s shape) String() string {
	t := fmt.Sprintf("%v of %d bits, %d nodes, %d bearers, loss %.1f %%, %v", s.Kind, 8*(s.material-4), s.nodes, s.bearers, 100*s.loss, s.stranger)
	for _, x := range []struct {
		is   bool
		text string
	}{{s.crashes, "crashes"}, {s.migrate, "migrating"}, {s.lastWithout, "one is given its key late"}} {
		if x.is {
			t += ", " + x.text
		}
	}
	return t
}
