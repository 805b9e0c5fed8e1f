// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A drawn is an engine.Chance that draws what a recorded node has drawn.
type drawn struct {
	node, netHash uint32
	sessions      []frame.Seq         // of its link endpoints, in the order they were made
	keys          map[uint32][]uint32 // by port, of its bindings, in the order they were made
	bound         map[uint32]uint32   // bindings made so far
	port          uint32              // of the socket being opened
	generation    frame.Seq           // before its first key
	made          [][]byte            // keys that it made, in their order
	pause         time.Duration       // before the request that comes back now is repeated
}

var _ engine.Chance = (*drawn)(nil)

// drawnBy reads off a node's frames what it has drawn: a session for each link
// endpoint, which it makes when it first hears of the other node, and again when the
// number does not follow from the one before.
// Keys that it handed out are those given it, the first so many, and then those it made.
func drawnBy(own, in []Frame, given []engine.Key) *drawn {
	d := &drawn{keys: map[uint32][]uint32{}}
	last := map[frame.MAC]frame.Seq{} // session, by peer's station
	first := map[frame.MAC]frame.Seq{}
	var again, told []frame.Seq
	for _, f := range own {
		if f.Bad != nil {
			continue
		}
		if k, err := discovery(f); err == nil && d.netHash == 0 {
			// The first namespace of a kernel shows its whole random number as the
			// hash; others show only what the signature has of it.
			d.netHash, d.node = k.NetHash(), k.NetHash()
			if low := uint32(k.Signature()) & 0x7fff; low != d.node&0x7fff {
				d.node = low
			}
		}
		if l, err := frame.ParseLink(f.Message); err == nil && !l.IsState() {
			s, known := last[f.Dst]
			switch {
			case !known:
				first[f.Dst] = l.Session()
			case l.Session() != s && l.Session() != s+1:
				again = append(again, l.Session())
			}
			last[f.Dst] = l.Session()
		}
		if k, err := frame.ParseKey(f.Message); err == nil && !slices.Contains(told, k.Generation()) {
			if told = append(told, k.Generation()); len(told) == 1 {
				d.generation = k.Generation() - 1
			}
			if !slices.ContainsFunc(given, func(g engine.Key) bool { return g.Equal(keyIn(k)) }) {
				d.made = append(d.made, k.Key())
			}
		}
		if n, err := frame.ParseNames(f.Message); err == nil && !n.Withdrawal() {
			for it := range n.Items() {
				if it.Port != 0 && !slices.Contains(d.keys[it.Port], it.Key) {
					d.keys[it.Port] = append(d.keys[it.Port], it.Key)
				}
			}
		}
	}
	for _, f := range in {
		k, err := discovery(f)
		if s, ok := first[f.Src]; ok && err == nil && (k.Type() == frame.Request || k.Type() == frame.Response) {
			d.sessions = append(d.sessions, s)
			delete(first, f.Src)
		}
	}
	d.sessions = append(d.sessions, again...)
	return d
}

// fresh returns d before anything was taken of it.
func (d drawn) fresh() *drawn {
	d.bound = map[uint32]uint32{}
	return &d
}

// Node implements engine.Chance.
func (d *drawn) Node() uint32 { return d.node }

// NetHash implements engine.Chance.
func (d *drawn) NetHash() uint32 { return d.netHash }

// Session implements engine.Chance.
func (d *drawn) Session() frame.Seq {
	if len(d.sessions) == 0 {
		return 0
	}
	s := d.sessions[0]
	d.sessions = d.sessions[1:]
	return s
}

// Port implements engine.Chance; a call says it.
func (d *drawn) Port() uint32 { return d.port }

// Key implements engine.Chance. Kernels count up from the port; where a capture
// shows other keys, those are taken. Source: docs/spec/05-naming.md §1.
func (d *drawn) Key(port uint32) uint32 {
	d.bound[port]++
	n := d.bound[port]
	if k := d.keys[port]; !slices.Contains(k, port+n) && int(n) <= len(k) {
		return k[n-1]
	}
	return port + n
}

// Retry implements engine.Chance.
func (d *drawn) Retry(most time.Duration) time.Duration { return min(d.pause, most) }

// Nonce implements engine.Chance: kernels count from 1. Source: docs/spec/09-security.md §1.1.
func (d *drawn) Nonce() uint64 { return 1 }

// Generation implements engine.Chance.
func (d *drawn) Generation() frame.Seq { return d.generation }

// Material implements engine.Chance: the key that the node handed out next.
func (d *drawn) Material(key []byte) {
	clear(key)
	if len(d.made) > 0 {
		copy(key, d.made[0])
		d.made = d.made[1:]
	}
}
