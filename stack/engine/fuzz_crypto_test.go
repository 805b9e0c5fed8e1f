// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// FuzzKeyExchange lets two nodes that talk change their keys as the input says, on a
// network that loses frames as it says. Whatever happens, no number is used twice under a
// key, nothing goes plain while the sender has a key, every chunk comes back, and once
// both have the same key again and the network is whole they talk.
//
// Proves: keys.never-plain
func FuzzKeyExchange(f *testing.F) {
	f.Add([]byte{0, 0x40, 1, 0x40, 2, 0x43, 0x80, 0x90})
	f.Add([]byte{0x10, 0x11, 4, 5, 0xff, 0xc5, 6, 7, 0x20, 0x61, 2, 3, 0xf0})
	f.Add([]byte{3, 3, 3, 0x13, 0xff, 0xff, 3, 0x53, 0xff, 1, 0, 7, 0xff})
	f.Fuzz(fuzzKeys)
}

func fuzzKeys(t *testing.T, in []byte) {
	if len(in) > 64 {
		in = in[:64]
	}
	b := newBed(t, 0)
	keys := [4]*seal.Key{testKey(t, frame.ClusterKey, 3), testKey(t, frame.ClusterKey, 5), testKey(t, frame.NodeKey, 7), testKey(t, frame.NodeKey, 11)}
	for i := range 2 {
		n := b.add(Config{Address: frame.NodeAddr(0x1001001 + i), Sealed: true, Migration: true, Rekey: time.Minute}, uint64(i))
		n.setKey(t, 0, Key{Key: keys[0], Master: true})
	}
	g := b.guard()
	sealing := [2]bool{true, true}
	b.lose = func(from int, x []byte) bool {
		plain := g.plain
		lost := g.look(from, x)
		if g.plain > plain && sealing[from] {
			t.Errorf("node %d has a key, and sent a plain frame", from)
		}
		return lost
	}
	b.pass(2 * time.Second)
	for _, c := range in {
		who := int(c >> 4 & 1)
		n := b.nodes[who]
		switch op := c & 7; {
		case c&0xc0 == 0xc0:
			b.pass(time.Duration(c&0x3f) * time.Second)
		case c&0xc0 == 0x80:
			g.loss = float64(c&0x3f) / 100
		case op < 3: // a cluster key
			n.SetKey(b.now, Key{Key: keys[op&1]}) // may be busy
		case op == 3:
			n.SetKey(b.now, Key{Key: keys[2+who]})
		case op == 4:
			n.SetKey(b.now, Key{Key: keys[2+who], Node: b.nodes[1-who].Identity()})
		case op == 5:
			b.settle()
			n.FlushKeys(b.now)
		default:
			n.Rekey(b.now) // may be busy
		}
		sealing[who] = n.Encryption().Working
		b.pass(time.Duration(c&0x3f) * 10 * time.Millisecond)
	}
	g.loss = 0
	b.settle()
	for i, n := range b.nodes {
		n.FlushKeys(b.now)
		n.setKey(t, b.now, Key{Key: keys[0], Master: true})
		n.setKey(t, b.now, Key{Key: keys[1]})
		sealing[i] = true
	}
	b.pass(time.Minute)
	for i, n := range b.nodes {
		if len(n.nodes) != 1 || n.nodes[0].contact != UpUp {
			t.Errorf("node %d has no contact: %+v, dropped %v", i, n.Encryption(), n.Counters().Drops)
		}
		if n.arena.Free() != n.arena.Total() {
			t.Errorf("node %d: %d of %d chunks free", i, n.arena.Free(), n.arena.Total())
		}
	}
}

// FuzzSealedFrames gives a node with keys, in contact, frames that are sealed with its key
// and have anything inside, and such that only look sealed.
//
// Proves: keys.never-plain
func FuzzSealedFrames(f *testing.F) {
	state := frame.StateFields{Common: frame.Common{Prev: 0x1001002}, LinkInfo: frame.LinkInfo{Orig: 0x1001002, Dest: 0x1001001}}
	f.Add(byte(0x11), state.Append(nil, nil))
	f.Add(byte(0x80), []byte{0xe0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0x10, 2, 1, 2, 3, 4})
	disc := frame.DiscoveryFields{Type: frame.Request, Prev: 0x1001009, NetID: frame.DefaultNetID, MAC: frame.MAC{2, 9}, Identity: frame.Identity{9}}
	f.Add(byte(0x03), disc.Append(nil))
	key := frame.KeyFields{Common: frame.Common{Prev: 0x1001002}, Generation: 5, Mode: frame.NodeKey, Orig: 0x1001002, Dest: 0x1001001}
	f.Add(byte(0x01), key.Append(nil, make([]byte, 20)))
	f.Fuzz(func(t *testing.T, how byte, in []byte) {
		p := newSealedPair(t, how&4 != 0)
		if len(in) > 1400 {
			in = in[:1400]
		}
		s, err := seal.NewSender(testKey(t, frame.ClusterKey, 3), 1<<50)
		if err != nil {
			t.Fatal(err)
		}
		dst := p.x.macs[0]
		if how&8 != 0 {
			dst = frame.BroadcastMAC
		}
		for i := range 8 {
			msg := append([]byte(nil), in...)
			if how&0x80 == 0 && len(msg) >= frame.ShortLen {
				if l := p.x.nodes; i > 0 && len(l) > 0 && l[0].slots[0] != nil {
					frame.StampSeq(msg, l[0].slots[0].Expected()) // as the next packet
				}
				into := make([]byte, seal.SealedSize(msg))
				h := seal.Header{TX: how & 3, RX: uint8(i) & 3, Destined: i&1 == 0, NoKey: how&0x10 != 0, Master: how&0x20 != 0, Dest: p.x.addr}
				if _, err := s.Seal(into, msg, &h); err != nil {
					return
				}
				msg = into
			}
			p.raw(ether(dst, p.y.macs[0], msg))
			p.settle()
		}
		p.pass(20 * time.Second)
		for i, n := range p.nodes {
			held := map[*netdev.Buffer]bool{} // what came early waits
			for f := range n.Buffers {
				held[f] = true
			}
			if n.arena.Free()+len(held) != n.arena.Total() {
				t.Errorf("node %d: %d of %d chunks free, %d held", i, n.arena.Free(), n.arena.Total(), len(held))
			}
		}
	})
}
