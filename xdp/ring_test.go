// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"math"
	"testing"
)

// A fakeRing is the memory of a ring, and the test the kernel.
type fakeRing[E any] struct {
	producer, consumer, flags uint32
	entries                   []E
}

func newFakeRing[E any](size int) *fakeRing[E] {
	return &fakeRing[E]{entries: make([]E, size)}
}

func (f *fakeRing[E]) shared() shared[E] {
	return shared[E]{&f.producer, &f.consumer, &f.flags, f.entries}
}

// startAt moves both sides to the same index.
func (f *fakeRing[E]) producerAt(at uint32) *producerRing[E] {
	f.producer, f.consumer = at, at
	return &producerRing[E]{shared: f.shared(), next: at, seen: at}
}

func (f *fakeRing[E]) consumerAt(at uint32) *consumerRing[E] {
	f.producer, f.consumer = at, at
	return &consumerRing[E]{shared: f.shared(), next: at}
}

// starts are indexes worth beginning at: the counts wrap around at 2^32.
var starts = []uint32{0, 1, 62, math.MaxUint32 - 70, math.MaxUint32 - 1, math.MaxUint32, 1 << 31}

// Proves: device.rings
func TestProducerRing(t *testing.T) {
	for _, start := range starts {
		f := newFakeRing[uint64](64)
		r := f.producerAt(start)
		next := uint64(0) // what the kernel takes next
		for put := uint64(0); put < 500; {
			want := uint32(put%64) + 1
			free := r.room(want)
			if got := 64 - uint32(put-next); free > got || free < want && free != got {
				t.Fatalf("from %d, %d put: got room %d for %d, want up to %d", start, put, free, want, got)
			}
			for range min(free, want) {
				r.put(put)
				put++
			}
			if f.producer == start+uint32(put) && free > 0 {
				t.Fatalf("from %d: the kernel sees %d entries before publish", start, put)
			}
			r.publish()
			if got := r.pending(); got != uint32(put-next) {
				t.Fatalf("from %d: got %d pending, want %d", start, got, put-next)
			}
			// The kernel takes some of them.
			for n := (put - next + 1) / 2; n > 0; n-- {
				if got := f.entries[f.consumer%64]; got != next {
					t.Fatalf("from %d: the kernel took %d, want %d", start, got, next)
				}
				f.consumer++
				next++
			}
		}
	}
}

// Proves: device.rings
func TestConsumerRing(t *testing.T) {
	for _, start := range starts {
		f := newFakeRing[uint64](64)
		r := f.consumerAt(start)
		next := uint64(0)
		for put := uint64(0); put < 500; {
			for n := min(put%64+1, 64-(put-next)); n > 0; n-- {
				f.entries[f.producer%64] = put
				f.producer++
				put++
			}
			if got := r.available(); got != uint32(put-next) {
				t.Fatalf("from %d: got %d available, want %d", start, got, put-next)
			}
			for n := (put - next + 1) / 2; n > 0; n-- {
				if got := r.take(); got != next {
					t.Fatalf("from %d: took %d, want %d", start, got, next)
				}
				next++
			}
			if f.consumer == start+uint32(next) {
				t.Fatalf("from %d: the kernel has the room before release", start)
			}
			r.release()
			if f.consumer != start+uint32(next) {
				t.Fatalf("from %d: released up to %d, want %d", start, f.consumer-start, next)
			}
		}
	}
}

// What the other side writes cannot make us put or take what is not there.
//
// Proves: device.rings
func TestRingIndexesThatLie(t *testing.T) {
	for _, start := range starts {
		for _, lie := range []uint32{65, 66, 1 << 16, 1 << 31, math.MaxUint32 - 63, math.MaxUint32} {
			f := newFakeRing[uint64](64)
			r := f.consumerAt(start)
			f.producer = start + lie
			if got := r.available(); got != 0 {
				t.Errorf("producer %d ahead of %d: got %d available, want 0", lie, start, got)
			}
			f.producer = start + 3
			if got := r.available(); got != 3 {
				t.Errorf("after a lie: got %d available, want 3", got)
			}
			p := f.producerAt(start)
			for range 64 {
				p.put(0)
			}
			p.publish()
			f.consumer = start + 64 - lie // that many pending
			if got := p.room(1); got != 0 {
				t.Errorf("consumer %d behind %d: got room %d, want 0", lie, start, got)
			}
			if got := p.pending(); got != 64 {
				t.Errorf("consumer %d behind %d: got %d pending, want 64", lie, start, got)
			}
			f.consumer = start + 2
			if got := p.room(1); got != 2 {
				t.Errorf("after a lie: got room %d, want 2", got)
			}
		}
	}
}

// Proves: device.rings
func TestWakeupFlag(t *testing.T) {
	f := newFakeRing[uint64](64)
	r := f.producerAt(0)
	for _, c := range []struct {
		flags uint32
		want  bool
	}{{0, false}, {needWakeup, true}, {2, false}, {3, true}} {
		f.flags = c.flags
		if got := r.wakeup(); got != c.want {
			t.Errorf("flags %d: got %v, want %v", c.flags, got, c.want)
		}
	}
}

// Proves: device.contract
func TestFramesAreCutAtChunks(t *testing.T) {
	type d = descriptor
	for _, c := range []struct {
		addr, length int
		want         []d
	}{
		{128, 14, []d{{128, 14, 0}}},
		{128, 3968, []d{{128, 3968, 0}}},
		{4096, 4096, []d{{4096, 4096, 0}}},
		{4095, 1, []d{{4095, 1, 0}}},
		{4095, 2, []d{{4095, 1, continued}, {4096, 1, 0}}},
		{128, 3969, []d{{128, 3968, continued}, {4096, 1, 0}}},
		{8320, 9014, []d{{8320, 3968, continued}, {12288, 4096, continued}, {16384, 950, 0}}},
	} {
		f := newFakeRing[descriptor](64)
		r := txRing{*f.producerAt(math.MaxUint32)}
		r.putFrame(c.addr, c.length)
		n := int(r.next + 1)
		if got := pieces(c.addr, c.length); n != len(c.want) || got != n {
			t.Errorf("%d bytes at %d: got %d descriptors, pieces says %d, want %d", c.length, c.addr, n, got, len(c.want))
			continue
		}
		for i, want := range c.want {
			if got := f.entries[(math.MaxUint32+uint32(i))%64]; got != want {
				t.Errorf("%d bytes at %d: descriptor %d: got %v, want %v", c.length, c.addr, i, got, want)
			}
		}
	}
	if got := pieces(128, 65535+14); got != 17 {
		t.Errorf("the longest frame: got %d pieces, want 17", got)
	}
}

// FuzzRings lets the other side write whatever it likes while we put and take.
//
// Proves: device.rings
func FuzzRings(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, script []byte) {
		in, out := newFakeRing[descriptor](8), newFakeRing[descriptor](8)
		r, w := in.consumerAt(math.MaxUint32-3), out.producerAt(math.MaxUint32-3)
		for i, c := range script {
			switch v := uint32(c) << (i % 4 * 8); c % 4 {
			case 0:
				in.producer += v
			case 1:
				out.consumer += v
			case 2:
				n := r.available()
				if n > 8 {
					t.Fatalf("got %d available in a ring of 8", n)
				}
				for range n {
					r.take()
				}
				r.release()
			case 3:
				n := w.room(uint32(c % 8))
				if n > 8 || w.pending() > 8 {
					t.Fatalf("got room %d, %d pending in a ring of 8", n, w.pending())
				}
				for range n {
					w.put(descriptor{})
				}
				w.publish()
			}
		}
	})
}
