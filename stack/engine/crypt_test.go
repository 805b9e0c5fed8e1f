// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// testKey makes a key of 20 bytes, each n apart from the one before.
func testKey(t testing.TB, mode frame.KeyMode, n byte) *seal.Key {
	t.Helper()
	var b [20]byte
	for i := range b {
		b[i] = byte(i+1) * n
	}
	k, err := seal.NewKey(mode, b[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// setKey gives a node a key.
func (n *bedNode) setKey(t testing.TB, now time.Duration, k Key) {
	t.Helper()
	if err := n.SetKey(now, k); err != nil {
		t.Fatal(err)
	}
}

// A guard looks at every frame of a bed: none may be plain, and no number may come twice
// under one key. It loses some.
type guard struct {
	t             testing.TB
	plain, sealed int
	r             *rand.Rand
	loss          float64
	used          map[[13]byte]bool // slot, what the nonce is made of beside the number, number
}

func (b *bed) guard() *guard {
	g := &guard{t: b.t, r: rand.New(rand.NewPCG(7, 7)), used: map[[13]byte]bool{}}
	b.lose = g.look
	return g
}

func (g *guard) look(from int, f []byte) bool {
	e, err := frame.ParseEncrypted(f[frame.EthernetLen:])
	if err != nil {
		g.plain++
		return false
	}
	g.sealed++
	h := e.Header()
	key := [13]byte{h[1] >> 6}
	copy(key[1:], h[12:16])
	copy(key[5:], h[4:12])
	if g.used[key] {
		g.t.Errorf("node %d used number %d of slot %d twice", from, e.Seq(), h[1]>>6)
	}
	g.used[key] = true
	return g.loss > 0 && g.r.Float64() < g.loss
}

// A stream is numbered messages from one node to a name at another.
type stream struct {
	b          *bed
	from, to   *Port
	svc        frame.Service
	sent, seen uint32
}

// stream makes one, when the name has come.
func (b *bed) stream(from, to *bedNode, svc frame.Service) *stream {
	b.t.Helper()
	s := &stream{b: b, to: to.OpenPort(PortConfig{ReceiveLimit: 1 << 26}), svc: svc}
	if err := s.to.Bind(b.now, svc.Range(), frame.ClusterScope); err != nil {
		b.t.Fatal(err)
	}
	if !b.until(10*time.Second, func() bool { return from.knows(svc.Range()) }) {
		b.t.Fatalf("the name did not come: %v, %v", from.Counters().Drops, to.Counters().Drops)
	}
	s.from = from.OpenPort(PortConfig{})
	return s
}

// send sends a message of n bytes, if the link has room.
func (s *stream) send(n int) {
	msg := make([]byte, max(4, n))
	binary.BigEndian.PutUint32(msg, s.sent)
	if err := s.from.SendService(s.b.now, s.svc, msg); err == nil {
		s.sent++
	}
}

// read checks that what came is the next, without a gap.
func (s *stream) read() {
	var buf [70000]byte
	for {
		n, _, ok := s.to.Read(buf[:])
		if !ok {
			return
		}
		if got := binary.BigEndian.Uint32(buf[:n]); got != s.seen {
			s.b.t.Fatalf("message %d: got %d", s.seen, got)
		}
		s.seen++
	}
}

// run sends a message each step, of sizes that take all ways, until end.
func (s *stream) run(end, step time.Duration, do func()) {
	sizes := [...]int{64, 200, 1400, 1428, 1429, 5000, 30000}
	for s.b.now < end {
		for i := range 3 {
			s.send(sizes[(int(s.sent)+i)%len(sizes)])
		}
		if do != nil {
			do()
		}
		s.b.pass(step)
		s.read()
	}
}

// finish lets the rest come.
func (s *stream) finish() {
	s.b.t.Helper()
	s.b.until(20*time.Second, func() bool { s.read(); return s.seen == s.sent })
	if s.seen != s.sent || s.sent == 0 {
		s.b.t.Errorf("%d of %d messages came", s.seen, s.sent)
	}
}

// unbroken checks that all chunks came back and no link failed.
func (b *bed) unbroken() {
	b.t.Helper()
	b.pass(10 * time.Second)
	b.wantFree()
	for i, n := range b.nodes {
		for _, ev := range n.events {
			if ev.Kind == LinkDown || ev.Kind == PeerLost {
				b.t.Errorf("node %d: %v %v %v", i, ev.Kind, ev.Node, ev.Cause)
			}
		}
	}
}

func (n *bedNode) told(k EventKind) (c int) {
	for _, ev := range n.events {
		if ev.Kind == k {
			c++
		}
	}
	return c
}

// With each kind of key nodes find each other, talk, and nothing goes plain. With a master
// key they make their own when they are told to.
//
// Proves: keys.node
func TestKinds(t *testing.T) {
	id := func(i int) frame.Identity { return frame.AddrIdentity(frame.NodeAddr(0x1001001 + i)) }
	for _, c := range []struct {
		name string
		set  func(t *testing.T, b *bed, i int)
		late func(t *testing.T, b *bed)
	}{
		{"cluster", func(t *testing.T, b *bed, i int) {
			b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 3)})
		}, nil},
		{"node", func(t *testing.T, b *bed, i int) {
			for j := range 3 {
				b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.NodeKey, byte(50+j)), Node: id(j)})
			}
		}, nil},
		{"master", func(t *testing.T, b *bed, i int) {
			b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 9), Master: true})
		}, nil},
		{"master, and own keys later", func(t *testing.T, b *bed, i int) {
			b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 9), Master: true})
		}, func(t *testing.T, b *bed) {
			for _, n := range b.nodes {
				if err := n.Rekey(b.now); err != nil {
					t.Error(err)
				}
			}
		}},
		{"master and cluster", func(t *testing.T, b *bed, i int) {
			b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 9), Master: true})
			b.nodes[i].setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 3)})
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, 0)
			for i := range 3 {
				b.add(Config{Address: frame.NodeAddr(0x1001001 + i), Sealed: true}, uint64(i))
				c.set(t, b, i)
			}
			g := b.guard()
			s := b.stream(b.nodes[0], b.nodes[2], frame.Service{Type: 18888, Instance: 17})
			s.run(b.now+time.Second, 100*time.Millisecond, nil)
			if c.late != nil {
				c.late(t, b)
			}
			g.loss = 0.01
			s.run(b.now+20*time.Second, 100*time.Millisecond, nil)
			g.loss = 0
			s.finish()
			b.unbroken()
			if g.plain != 0 || g.sealed == 0 {
				t.Errorf("%d frames plain, %d sealed", g.plain, g.sealed)
			}
			for i, n := range b.nodes {
				x := n.Encryption()
				if c.late != nil && (x.Sealing.KeysTaken != 2 || n.told(KeyInUse) == 0) {
					t.Errorf("node %d: took %d keys, %d in use", i, x.Sealing.KeysTaken, n.told(KeyInUse))
				}
				if d := n.Counters().Drops; d[DropTag]+d[DropPlain]+d[DropReplay]+d[DropMalformed] != 0 {
					t.Errorf("node %d: %v", i, d)
				}
			}
		})
	}
}

// Under load and with losses, nodes with a master key change their own keys again and
// again: no message is lost, no link fails, no number comes twice.
//
// Proves: keys.node
func TestRekeyUnderLoad(t *testing.T) {
	b := newBed(t, 0)
	for i := range 3 {
		n := b.add(Config{Address: frame.NodeAddr(0x1001001 + i), Rekey: 30 * time.Second, Sealed: true}, uint64(i))
		b.attach(n, BearerConfig{MTU: 1500})
		n.setKey(t, 0, Key{Key: testKey(t, frame.ClusterKey, 9), Master: true})
	}
	g := b.guard()
	s := b.stream(b.nodes[0], b.nodes[1], frame.Service{Type: 18888, Instance: 17})
	g.loss = 0.01
	rng := 0
	s.run(b.now+5*time.Minute, 100*time.Millisecond, func() {
		if rng++; rng%500 == 0 {
			b.nodes[rng/500%3].Rekey(b.now) // may be busy
		}
	})
	g.loss = 0
	s.finish()
	b.unbroken()
	for i, n := range b.nodes {
		x := n.Encryption()
		if x.Keys.Switched < 6 || x.Sealing.KeysTaken < 12 {
			t.Errorf("node %d: %d keys became active, %d received", i, x.Keys.Switched, x.Sealing.KeysTaken)
		}
	}
	if g.plain != 0 {
		t.Errorf("%d frames plain", g.plain)
	}
	t.Logf("%d messages, %d frames sealed, %+v", s.sent, g.sealed, b.nodes[0].Encryption().Keys)
}

// In a cluster of two nodes with a key and one without, the two talk, and the third has
// contact with nobody; with migration they would hear it, but it cannot open what they send.
//
// Proves: keys.node
func TestTwoNodesWithKeysAndOneWithout(t *testing.T) {
	b := newBed(t, 0)
	for i := range 3 {
		n := b.add(Config{Address: frame.NodeAddr(0x1001001 + i), Sealed: i < 2}, uint64(i))
		if i < 2 {
			n.setKey(t, b.now, Key{Key: testKey(t, frame.ClusterKey, 3)})
		}
	}
	s := b.stream(b.nodes[0], b.nodes[1], frame.Service{Type: 18888, Instance: 17})
	s.run(b.now+10*time.Second, 100*time.Millisecond, nil)
	s.finish()
	b.unbroken()
	for i, n := range b.nodes {
		want := 1
		if i == 2 {
			want = 0
		}
		up := 0
		for range n.Contacts {
			up++
		}
		if up != want {
			t.Errorf("node %d: %d contacts, want %d", i, up, want)
		}
	}
	if d := b.nodes[0].Counters().Drops; d[DropPlain] == 0 {
		t.Errorf("dropped %v, want plain frames", d)
	}
	if d := b.nodes[2].Counters().Drops; d[DropEncrypted] == 0 {
		t.Errorf("the third: dropped %v, want encrypted frames", d)
	}
}

// When data has taken all chunks but the reserve, packets are sealed into half of that;
// with a device that keeps those, frames wait, in order, and go on when chunks come back.
//
// Proves: keys.node
func TestSealingWaitsForChunks(t *testing.T) {
	p := newSealedPair(t, false)
	s := p.stream(p.x, p.y, frame.Service{Type: 18888, Instance: 1})
	var taken []*netdev.Buffer
	for f := p.x.arena.Get(100, netdev.Data); f != nil; f = p.x.arena.Get(100, netdev.Data) {
		taken = append(taken, f)
	}
	for range 40 { // room for the packets themselves
		taken[len(taken)-1].Release()
		taken = taken[:len(taken)-1]
	}
	for range 40 {
		s.send(500)
	}
	for f := p.x.arena.Get(100, netdev.Sealing); f != nil; f = p.x.arena.Get(100, netdev.Sealing) {
		taken = append(taken, f)
	}
	if f := p.x.NextFrame(0); f != nil || !p.x.WantsMemory() || !p.x.Output() {
		t.Fatalf("a frame without a chunk for it: %v, wants memory %v", f, p.x.WantsMemory())
	}
	for _, f := range taken {
		f.Release()
	}
	s.finish()
	if p.x.WantsMemory() {
		t.Error("frames wait still")
	}
	p.done()
}

// Chunks that had a key in them are wiped when they are free.
func TestKeyChunksAreWiped(t *testing.T) {
	p := newSealedPair(t, true)
	if err := p.x.Rekey(p.now); err != nil {
		t.Fatal(err)
	}
	if !p.until(5*time.Second, func() bool { return p.y.Encryption().Sealing.KeysTaken == 2 && p.x.cast.Unacked() == 0 }) {
		t.Fatal("the key was not taken")
	}
	k, _, ok := p.x.crypt.ring.Distribution() // the only place that still has it
	if !ok {
		t.Fatal("no key")
	}
	material := k.Append(nil)
	for i, n := range p.nodes {
		if bytes.Contains(n.arena.Memory(), material) {
			t.Errorf("node %d: the key is in a chunk", i)
		}
	}
	p.done()
}

// BenchmarkWrongKey is the price of a frame that no key opens.
func BenchmarkWrongKey(b *testing.B) {
	p := newSealedPair(b, false)
	other, err := seal.NewSender(testKey(b, frame.ClusterKey, 77), 1)
	if err != nil {
		b.Fatal(err)
	}
	state := frame.StateFields{Common: frame.Common{Prev: p.y.addr}, LinkInfo: frame.LinkInfo{Orig: p.y.addr, Dest: p.x.addr}}
	var into [256]byte
	n, err := other.Seal(into[:], state.Append(nil, nil), &seal.Header{TX: 1, Destined: true, Dest: p.x.addr})
	if err != nil {
		b.Fatal(err)
	}
	f := ether(p.x.macs[0], p.y.macs[0], into[:n])
	for b.Loop() {
		p.raw(f)
	}
}
