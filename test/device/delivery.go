// SPDX-License-Identifier: Apache-2.0

package device

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// sizes are the lengths worth trying, in bytes.
func sizes(longest int) (all []int) {
	for _, n := range []int{shortest, shortest + 1, 59, 60, 61, 64, 100, longest / 2, longest - 1, longest} {
		if n >= shortest && n <= longest {
			all = append(all, n)
		}
	}
	return all
}

// deliverBytes: frames of any length, down to unpadded ones and up to the MTU,
// arrive as they were sent, both ways.
func deliverBytes(t *testing.T, a, b *station) {
	for _, n := range sizes(a.longest()) {
		for _, way := range [][2]*station{{a, b}, {b, a}} {
			from, to := way[0], way[1]
			note := from.note(to.dev.Addr(), n, n)
			from.send(from.build(note))
			to.expect(1, note)
		}
	}
}

// deliverPrepended: it does not matter where in its chunk a frame begins.
func deliverPrepended(t *testing.T, a, b *station) {
	for _, front := range []int{1, frame.EthernetLen, shortest, min(netdev.Headroom, a.longest())} {
		note := a.note(b.dev.Addr(), front, max(front, shortest))
		x := a.arena.Get(note.length, netdev.Data)
		x.Extend(note.length - front)
		x.Prepend(front)
		note.write(x.Bytes())
		a.send(x)
		b.expect(1, note)
	}
}

// filter: a station receives what is for itself, for all or for a group, from
// any source address, and neither what is for others nor what it sent.
func filter(t *testing.T, a, b *station) {
	other := b.dev.Addr()
	other[5] ^= 0x55
	if other == a.dev.Addr() {
		other[4] ^= 0x55
	}
	tests := []struct {
		name    string
		dst     frame.MAC
		src     frame.MAC
		arrives bool
	}{
		{"to the station", b.dev.Addr(), a.dev.Addr(), true},
		{"broadcast", frame.BroadcastMAC, a.dev.Addr(), true},
		{"multicast", frame.MAC{0x01, 0x00, 0x5e, 0, 0, 1}, a.dev.Addr(), true},
		{"to another station", other, a.dev.Addr(), false},
		{"to the sender", a.dev.Addr(), a.dev.Addr(), false},
		{"from another station", b.dev.Addr(), other, true},
	}
	for i, tt := range tests {
		n := note{dst: tt.dst, src: tt.src, number: uint32(i), length: 64 + i}
		a.send(a.build(n))
		if tt.arrives { // that another did not, the next to arrive shows
			b.expect(1, n)
		}
	}
	last := a.note(b.dev.Addr(), 1000, 64)
	a.send(a.build(last))
	b.expect(64, last)
	last = b.note(a.dev.Addr(), 1001, 64)
	b.send(b.build(last))
	a.expect(64, last)
}

// order: frames arrive in order, sent and received in batches of any size.
func order(t *testing.T, a, b *station) {
	next := 0
	for size := 1; size <= 64; size++ {
		for range 3 {
			notes, bufs := a.some(b, next, size)
			a.send(bufs...)
			b.expect(65-size, notes...)
			next += size
		}
	}
}

// partialBatches: Receive gives what there is and leaves the rest for later.
func partialBatches(t *testing.T, a, b *station) {
	for _, max := range []int{1, 3, 63, 64} {
		notes, bufs := a.some(b, 0, 64)
		a.send(bufs...)
		b.expect(max, notes...)
		if n, err := b.dev.Receive(b.batch[:max]); n != 0 || err != nil {
			t.Fatalf("Receive when all is received: got %v, %v, want 0, nil", n, err)
		}
		if fd := b.dev.FD(); fd >= 0 {
			if yes, err := readable(fd); yes || err != nil {
				t.Errorf("FD when all is received: got readable %v, %v, want false", yes, err)
			}
		}
	}
}
