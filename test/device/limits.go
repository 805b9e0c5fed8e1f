// SPDX-License-Identifier: Apache-2.0

package device

import (
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/netdev"
)

// noAllocation: once everything is warm, frames cost no memory.
func noAllocation(t *testing.T, a, b *station) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, size := range []int{1, 64} {
		_, bufs := a.some(b, 0, size)
		got := testing.AllocsPerRun(200, func() {
			for left := bufs; len(left) > 0; {
				n, err := a.dev.Transmit(left)
				if err != nil {
					t.Fatal(err)
				}
				left = left[n:]
			}
			for n := 0; n < size; {
				in, err := b.receive(size - n)
				if err != nil {
					t.Fatal(err)
				}
				release(in)
				n += len(in)
			}
		})
		if got != 0 {
			t.Errorf("batches of %d: got %v allocations, want 0", size, got)
		}
		a.settle(bufs)
		release(bufs)
	}
}

// flood: a station that does not receive loses frames and counts them, while
// its memory has a limit and its peer is not kept waiting for ever. When it
// receives again all is well.
func flood(t *testing.T, a, b *station) {
	const total = 16384
	length := a.longest()
	n := a.note(b.dev.Addr(), 0, length)
	var bufs []*netdev.Buffer
	for range 64 {
		bufs = append(bufs, a.build(n))
	}
	before := heap()
	counted := func() uint64 {
		in, _ := b.dev.Dropped()
		_, out := a.dev.Dropped()
		return in + out
	}
	// The network may lose frames of a flood before they come to the station, which counts none
	// of those: the flood goes on until that has lost some, too.
	sent, enough := 0, total
	for end := time.Now().Add(time.Second); sent < enough; {
		k, err := a.dev.Transmit(bufs)
		if err != nil {
			t.Fatalf("after %d frames: %v", sent, err)
		}
		sent += k
		if k > 0 {
			end = time.Now().Add(time.Second)
		} else if time.Now().After(end) {
			break // the network itself holds the sender back
		}
		if sent >= enough && enough < 16*total && counted() == 0 {
			enough += total
		}
		runtime.Gosched()
	}
	if got, limit := heap()-before, total*length/2; got > limit {
		t.Errorf("got %d bytes more on the heap after %d frames, want less than %d", got, sent, limit)
	}
	a.settle(bufs)
	release(bufs)

	// What was kept comes first, then a last frame sent anew until it arrives:
	// it may be lost as well while there is a backlog.
	received, more := 0, 0 // more: last frames
	last := a.note(b.dev.Addr(), 1, shortest)
	for done := false; !done; {
		k, err := b.dev.Receive(b.batch[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range b.batch[:k] {
			if numberOf(x.Bytes()) == last.number {
				done = true
				continue
			}
			if err := n.compare(x.Bytes()); err != nil {
				t.Error(err)
			}
			received++
		}
		release(b.batch[:k])
		if k == 0 {
			a.send(a.build(last))
			more++
			if err := b.sleep(); err != nil {
				t.Fatalf("no frame arrives after a flood: %v", err)
			}
		}
	}
	in, _ := b.dev.Dropped()
	dropped := counted()
	switch lost := sent - received; {
	case received > sent:
		t.Errorf("got %d frames, %d were sent", received, sent)
	case lost > 0 && dropped == 0:
		t.Errorf("got %d of %d frames and none counted as dropped", received, sent)
	case dropped > uint64(lost+more):
		t.Errorf("got %d of %d frames and %d counted as dropped", received, sent, dropped)
	}
	again, _ := b.dev.Dropped()
	if again < in {
		t.Errorf("Dropped: got %d, then %d", in, again)
	}
}

// heap returns the bytes in use, garbage not counted.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// exhaustedArena: a device that finds no chunk to receive into is none the worse
// when chunks have come back.
func exhaustedArena(t *testing.T, a, b *station) {
	var taken []*netdev.Buffer
	for _, size := range []int{1, b.longest()} {
		for x := b.arena.Get(size, netdev.Control); x != nil; x = b.arena.Get(size, netdev.Control) {
			taken = append(taken, x)
		}
	}
	_, bufs := a.some(b, 0, 32)
	a.send(bufs...)
	next := 0 // no frame comes twice or late
	got := func(max int) int {
		n, err := b.dev.Receive(b.batch[:max])
		if err != nil {
			t.Fatalf("Receive: %v", err)
		}
		for _, x := range b.batch[:n] {
			if k := int(numberOf(x.Bytes())); k < next {
				t.Errorf("got frame %d after frame %d", k, next-1)
			} else {
				next = k + 1
			}
		}
		return n
	}
	if err := b.sleep(); err != nil {
		t.Fatalf("with no chunk free: %v", err)
	}
	for range 64 { // it may have had chunks of its own
		n := got(1)
		taken = append(taken, b.batch[:n]...)
	}
	// What arrives now ends the sleep, too.
	_, bufs = a.some(b, 32, 32)
	a.send(bufs...)
	if err := b.sleep(); err != nil {
		t.Fatalf("with no chunk free, again: %v", err)
	}
	release(taken)
	// The last of these must arrive; the others were perhaps lost for want of
	// chunks.
	_, bufs = a.some(b, 64, 32)
	a.send(bufs...)
	for next < 96 {
		n := got(64)
		release(b.batch[:n])
		if n == 0 {
			if err := b.sleep(); err != nil {
				t.Fatalf("chunks are free again, after frame %d: %v", next, err)
			}
		}
	}
}
