// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A fakeKernel is the other side of one socket's rings, without a kernel: it does
// what a real one never shows on a veth.
type fakeKernel struct {
	fill       *fakeRing[uint64]
	completion *fakeRing[uint64]
	rx, tx     *fakeRing[descriptor]
}

// newFakeXSK is an attached device whose rings are the test's. A kick fails,
// since the socket is none.
func newFakeXSK(arena *netdev.Arena, pieces bool) (*XSK, *fakeKernel) {
	k := &fakeKernel{
		newFakeRing[uint64](64), newFakeRing[uint64](64),
		newFakeRing[descriptor](64), newFakeRing[descriptor](64),
	}
	s := &socket{fd: -1, stock: 16}
	s.fill.shared, s.completion.shared = k.fill.shared(), k.completion.shared()
	s.rx.shared, s.tx.shared = k.rx.shared(), k.tx.shared()
	x := &XSK{arena: arena, sockets: []*socket{s}, pieces: pieces, linkMTU: 1500, limit: onePieceMTU}
	if pieces {
		x.linkMTU, x.limit = 9000, arena.Largest()-frame.EthernetLen
	}
	x.measureLocked()
	x.chunks = make([]chunk, arena.Total())
	x.refillLocked(0)
	return x, k
}

// inFill takes a chunk from the fill ring.
func (k *fakeKernel) inFill(t *testing.T) uint64 {
	t.Helper()
	if k.fill.consumer == k.fill.producer {
		t.Fatal("the fill ring is empty")
	}
	a := k.fill.entries[k.fill.consumer%64]
	k.fill.consumer++
	return a
}

func (k *fakeKernel) arrive(d ...descriptor) {
	for _, d := range d {
		k.rx.entries[k.rx.producer%64] = d
		k.rx.producer++
	}
}

func (k *fakeKernel) complete(addr uint64) {
	k.completion.entries[k.completion.producer%64] = addr
	k.completion.producer++
}

// sent takes a descriptor from the transmit ring.
func (k *fakeKernel) sent(t *testing.T) descriptor {
	t.Helper()
	if k.tx.consumer == k.tx.producer {
		t.Fatal("the transmit ring is empty")
	}
	d := k.tx.entries[k.tx.consumer%64]
	k.tx.consumer++
	return d
}

func fakeFrame(a *netdev.Arena, n int) *netdev.Buffer {
	b := a.Get(n, netdev.Data)
	for i := range b.Extend(n) {
		b.Bytes()[i] = byte(i)
	}
	return b
}

// A frame is lent until its completion, however late that comes, and whoever else
// has let go of it.
//
// Proves: memory.lent
func TestXSKLendsUntilCompletion(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64, Poison: true})
	x, k := newFakeXSK(arena, false)
	free := arena.Free()
	b, c := fakeFrame(arena, 64), fakeFrame(arena, 100)
	if n, err := x.Transmit([]*netdev.Buffer{b, c, b}); n != 3 || err != nil {
		t.Fatalf("Transmit: got %d, %v, want 3", n, err)
	}
	b.Release()
	c.Release()
	for i, want := range []*netdev.Buffer{b, c, b} {
		d := k.sent(t)
		if d.addr != uint64(want.Offset()) || int(d.length) != want.Len() || d.options != 0 {
			t.Errorf("descriptor %d: got %+v, want %d bytes at %d", i, d, want.Len(), want.Offset())
		}
	}
	steps := []struct {
		done       int // where
		lentB      bool
		lentC      bool
		outOfArena int
	}{{b.Offset(), true, true, 2}, {c.Offset(), true, false, 1}, {b.Chunk(), false, false, 0}}
	for i, s := range steps {
		for range 3 {
			x.Receive(nil)
			x.Transmit(nil)
		}
		k.complete(uint64(s.done))
		if i%2 == 0 {
			x.Receive(nil)
		} else {
			x.Transmit(nil)
		}
		if b.Lent() != s.lentB || c.Lent() != s.lentC || free-arena.Free() != s.outOfArena {
			t.Errorf("after completion %d: lent %v, %v, %d chunks out, want %+v", i, b.Lent(), c.Lent(), free-arena.Free(), s)
		}
	}
	if x.counts.corrupt != 0 {
		t.Errorf("got %d corrupt entries, want none", x.counts.corrupt)
	}
	if got := x.sockets[0].sending; got != 0 { // Close would wait for it
		t.Errorf("all complete: got %d descriptors on their way, want none", got)
	}
}

// A transmit ring that the kernel does not empty makes Transmit short, and holds
// no more than it has taken.
//
// Proves: memory.lent
func TestXSKTransmitRingFull(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 256})
	x, k := newFakeXSK(arena, false)
	b := fakeFrame(arena, 64)
	var all []*netdev.Buffer
	for range 100 {
		all = append(all, b)
	}
	if n, err := x.Transmit(all); n != 64 || err != nil {
		t.Fatalf("Transmit: got %d, %v, want 64", n, err)
	}
	if n, err := x.Transmit(all); n != 0 || err != nil {
		t.Fatalf("Transmit into a full ring: got %d, %v, want 0", n, err)
	}
	for range 5 {
		k.complete(k.sent(t).addr)
	}
	if n, err := x.Transmit(all); n != 5 || err != nil {
		t.Fatalf("Transmit with room for 5: got %d, %v, want 5", n, err)
	}
	for k.tx.consumer != k.tx.producer {
		k.complete(k.sent(t).addr)
		x.Transmit(nil)
	}
	if b.Lent() {
		t.Error("all is complete and the frame is still lent")
	}
	b.Release()
}

// A frame of another arena is sent from a copy.
func TestXSKCopiesForeignFrames(t *testing.T) {
	arena, other := netdev.NewArena(netdev.ArenaConfig{Small: 64}), netdev.NewArena(netdev.ArenaConfig{Small: 64})
	x, k := newFakeXSK(arena, false)
	free := arena.Free()
	b := fakeFrame(other, 64)
	if n, err := x.Transmit([]*netdev.Buffer{b}); n != 1 || err != nil || b.Lent() {
		t.Fatalf("Transmit: got %d, %v, lent %v, want 1, not lent", n, err, b.Lent())
	}
	d := k.sent(t)
	if got := arena.Memory()[d.addr:][:d.length]; !bytes.Equal(got, b.Bytes()) {
		t.Errorf("got % x, want % x", got, b.Bytes())
	}
	k.complete(d.addr)
	x.Receive(nil)
	if got := arena.Free(); got != free {
		t.Errorf("complete: got %d chunks free, want %d", got, free)
	}
}

// Nor is a frame that lies over the border of two chunks, where the kernel was
// not told of frames in pieces.
func TestXSKCopiesFramesInPieces(t *testing.T) {
	for _, pieces := range []bool{false, true} {
		arena := netdev.NewArena(netdev.ArenaConfig{Small: 64, Jumbo: 4, JumboSize: 9014})
		x, k := newFakeXSK(arena, pieces)
		b := arena.Get(9000, netdev.Control)
		b.Place(4000, 200)
		for i := range b.Bytes() {
			b.Bytes()[i] = byte(i)
		}
		if n, err := x.Transmit([]*netdev.Buffer{b}); n != 1 || err != nil || b.Lent() != pieces {
			t.Fatalf("pieces %v: got %d, %v, lent %v, want 1, lent %v", pieces, n, err, b.Lent(), pieces)
		}
		var got []byte
		for more := true; more; {
			d := k.sent(t)
			if d.addr/4096 != (d.addr+uint64(d.length)-1)/4096 {
				t.Errorf("pieces %v: descriptor %+v does not lie in one chunk", pieces, d)
			}
			got = append(got, arena.Memory()[d.addr:][:d.length]...)
			more = d.options&continued != 0
			k.complete(d.addr)
		}
		if !bytes.Equal(got, b.Bytes()) {
			t.Errorf("pieces %v: got % x", pieces, got)
		}
		if x.Receive(nil); b.Lent() {
			t.Errorf("pieces %v: complete and still lent", pieces)
		}
	}
}

// Frames in pieces, whole and broken, one after the other.
//
// Proves: device.contract
func TestXSKJoinsPieces(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64, Jumbo: 2, JumboSize: 9014})
	x, k := newFakeXSK(arena, true)
	free := arena.Free()
	piece := func(fill byte, n int, more bool) descriptor {
		at := k.inFill(t) + chunkFront
		for i := range arena.Memory()[at:][:n] {
			arena.Memory()[int(at)+i] = fill
		}
		d := descriptor{addr: at, length: uint32(n)}
		if more {
			d.options = continued
		}
		return d
	}
	bufs := make([]*netdev.Buffer, 8)
	want := func(what string, lost uint64, frames ...string) {
		t.Helper()
		n, err := x.Receive(bufs)
		if n != len(frames) || err != nil || x.counts.lostIn != lost {
			t.Errorf("%s: got %d frames, %v, %d lost, want %d, %d lost", what, n, err, x.counts.lostIn, len(frames), lost)
		}
		for i, b := range bufs[:n] {
			var got []byte
			for j, c := range b.Bytes() {
				if j == 0 || c != b.Bytes()[j-1] {
					got = append(got, c)
				}
			}
			if string(got) != frames[i] {
				t.Errorf("%s: frame %d: got pieces %q, want %q", what, i, got, frames[i])
			}
			b.Release()
		}
		if x.sockets[0].partial.whole == nil && arena.Free() != free {
			t.Errorf("%s: got %d chunks free, want %d", what, arena.Free(), free)
		}
	}
	k.arrive(piece('a', 3840, true), piece('b', 3840, true), piece('c', 10, false), piece('d', 60, false))
	want("whole", 0, "abc", "d")
	k.arrive(piece('a', 3840, true))
	want("its beginning", 0)
	k.arrive(piece('b', 3840, true))
	want("its middle", 0)
	k.arrive(piece('c', 1, false))
	want("its end", 0, "abc")
	k.arrive(piece('a', 3840, true), piece('b', 3840, true), piece('c', 1335, false), piece('d', 60, false))
	want("one byte too long", 1, "d")
	k.arrive(piece('a', 3840, true), piece('b', 3840, true), piece('c', 3840, true), piece('d', 3840, true), piece('e', 9, false), piece('f', 60, false))
	want("much too long", 2, "f")
	one, two := arena.Get(9000, netdev.Control), arena.Get(9000, netdev.Control)
	k.arrive(piece('a', 3840, true), piece('b', 100, false))
	n, _ := x.Receive(bufs)
	if n != 0 || x.counts.lostIn != 3 {
		t.Errorf("without a large chunk: got %d frames, %d lost, want 0, 3", n, x.counts.lostIn)
	}
	one.Release()
	two.Release()
	k.arrive(piece('a', 3840, true), piece('b', 100, false))
	want("with one again", 3, "ab")
	k.arrive(piece('a', 0, true), piece('b', 100, false))
	want("an empty piece", 3, "b")
}

// A frame that does not lie in its chunk is none, and the chunk comes back.
func TestXSKFrameBeyondItsChunk(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	x, k := newFakeXSK(arena, false)
	free := arena.Free()
	bufs := make([]*netdev.Buffer, 4)
	for i, d := range []descriptor{
		{k.inFill(t) + 4000, 97, 0}, {k.inFill(t) + chunkFront, chunkRoom + 1, 0}, {k.inFill(t), 1 << 31, 0}, {k.inFill(t) + 4095, 1<<32 - 1, 0},
	} {
		k.arrive(d)
		if n, err := x.Receive(bufs); n != 0 || err != nil || x.counts.corrupt != uint64(i+1) || arena.Free() != free {
			t.Errorf("%+v: got %d, %v, %d corrupt, %d chunks free, want 0, nil, %d, %d", d, n, err, x.counts.corrupt, arena.Free(), i+1, free)
		}
	}
	k.arrive(descriptor{k.inFill(t) + chunkFront, 1514, 0})
	n, err := x.Receive(bufs)
	if n != 1 || err != nil || bufs[0].Len() != 1514 {
		t.Errorf("a frame in its chunk: got %d, %v, want it", n, err)
	}
}

// Whatever stands in the rings, no chunk is handed out that the kernel was not
// given, none twice, and none gets lost.
//
// Proves: device.rings
func TestXSKEntriesThatLie(t *testing.T) {
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64, Jumbo: 4, JumboSize: 9014, Poison: true})
	x, k := newFakeXSK(arena, true)
	chance := rand.New(rand.NewPCG(1, 2))
	bufs := make([]*netdev.Buffer, 8)
	mine := []*netdev.Buffer{fakeFrame(arena, 64), fakeFrame(arena, 9000)}
	strange := func() uint64 {
		switch chance.IntN(5) {
		case 0:
			return chance.Uint64()
		case 1:
			return ^uint64(0)
		case 2:
			return uint64(len(arena.Memory())) + uint64(chance.IntN(5000))
		case 3:
			return uint64(mine[chance.IntN(2)].Offset())
		}
		return uint64(chance.IntN(len(arena.Memory())))
	}
	for range 20000 {
		switch chance.IntN(6) {
		case 0:
			if k.rx.producer-k.rx.consumer < 64 {
				k.arrive(descriptor{strange(), chance.Uint32() >> chance.IntN(32), chance.Uint32() >> chance.IntN(32)})
			}
		case 1: // what was in the fill ring, but perhaps too long, or in the wrong place
			if k.fill.consumer != k.fill.producer && k.rx.producer-k.rx.consumer < 64 {
				k.arrive(descriptor{k.inFill(t) + uint64(chance.IntN(4096)), uint32(chance.IntN(5000)), uint32(chance.IntN(4))})
			}
		case 2:
			if k.completion.producer-k.completion.consumer < 64 {
				k.complete(strange())
			}
		case 3:
			if k.tx.consumer != k.tx.producer && k.completion.producer-k.completion.consumer < 64 {
				k.complete(k.sent(t).addr)
			}
		case 4:
			n, err := x.Receive(bufs)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bufs[:n] {
				for _, m := range mine {
					if b == m {
						t.Fatal("received a chunk of ours")
					}
				}
				b.Bytes() // within the chunk
				b.Release()
			}
		case 5:
			x.Transmit(mine)
		}
	}
	if x.counts.corrupt == 0 {
		t.Error("no entry was found corrupt")
	}
	// The end: everything comes back.
	x.disconnectLocked().takeBack()
	for _, b := range mine {
		b.Release()
	}
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("got %d chunks free, want %d", got, want)
	}
}

// The kernel's numbers and layouts that are written out here.
func TestKernelNumbers(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"XDP_RING_NEED_WAKEUP", needWakeup, unix.XDP_RING_NEED_WAKEUP},
		{"XDP_PKT_CONTD", continued, unix.XDP_PKT_CONTD},
		{"XDP_PACKET_HEADROOM", chunkFront, unix.XDP_PACKET_HEADROOM},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, c.got, c.want)
		}
	}
}
