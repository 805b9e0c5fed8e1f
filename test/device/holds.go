// SPDX-License-Identifier: Apache-2.0

package device

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// callersHold: Transmit leaves the caller's hold and the bytes alone, and what
// the device lends it gets back, in that call or a later one.
func callersHold(t *testing.T, a, b *station) {
	free := a.arena.Free()
	notes, bufs := a.some(b, 0, 64)
	if n, err := a.offer(bufs); err != nil {
		t.Fatalf("Transmit: got %d, %v", n, err)
	}
	b.expect(64, notes...)
	a.settle(bufs)
	if got, want := a.arena.Free(), free-len(bufs); got != want {
		t.Errorf("sent, still held by the caller: got %d chunks free, want %d", got, want)
	}
	for i, x := range bufs {
		if err := notes[i].compare(x.Bytes()); err != nil {
			t.Errorf("after it was sent: %v", err)
		}
	}
	release(bufs)
	if got, want := a.arena.Free(), free; got != want {
		t.Errorf("sent and released: got %d chunks free, want %d", got, want)
	}
}

// releasedAtOnce: the caller may let go of a frame before the wire has, and the
// chunk comes back all the same.
func releasedAtOnce(t *testing.T, a, b *station) {
	free := a.arena.Free()
	for i := range 32 {
		notes, bufs := a.some(b, 64*i, 64)
		a.send(bufs...)
		b.expect(64, notes...)
	}
	if err := a.until(func() bool {
		_, err := a.dev.Transmit(nil)
		return err != nil || a.arena.Free() == free
	}); err != nil {
		t.Errorf("got %d chunks free, want %d", a.arena.Free(), free)
	}
}

// sentTwice: a Buffer may be sent again, even while it is lent.
func sentTwice(t *testing.T, a, b *station) {
	notes, bufs := a.some(b, 7, 1)
	n, x := notes[0], bufs[0]
	if k, err := a.offer([]*netdev.Buffer{x, x, x}); err != nil {
		t.Fatalf("Transmit: got %d, %v", k, err)
	}
	a.send(x)
	b.expect(2, n, n, n, n)
}

// refused: a frame the network cannot take is refused with an error, those in
// front of it are taken, and those behind it can be offered again.
func refused(t *testing.T, a, b *station) {
	for _, length := range []int{a.longest() + 1, frame.EthernetLen - 1, 0} {
		_, before := a.dev.Dropped()
		var bufs []*netdev.Buffer
		var want []note
		for i := range 5 {
			n := a.note(b.dev.Addr(), i, 64)
			x := a.build(n)
			if i == 2 {
				x.Release()
				x = a.arena.Get(length, netdev.Data)
				clear(x.Extend(length))
				copy(x.Bytes(), n.dst[:])
			} else {
				want = append(want, n)
			}
			bufs = append(bufs, x)
		}
		n, err := a.offer(bufs)
		if n != 2 || err == nil || isClosed(err) {
			t.Fatalf("Transmit with the third frame of %d bytes: got %d, %v, want 2, a refusal", length, n, err)
		}
		if n, err := a.offer(bufs[3:]); err != nil {
			t.Fatalf("Transmit of the frames behind: got %d, %v, want 2, nil", n, err)
		}
		b.expect(64, want...)
		a.settle(bufs)
		release(bufs)
		if _, out := a.dev.Dropped(); out != before+1 {
			t.Errorf("Dropped: got %d out, want %d", out, before+1)
		}
	}
}
