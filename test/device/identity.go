// SPDX-License-Identifier: Apache-2.0

package device

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// identity: a device has a name peers can be told, an address of one station
// and an MTU a bearer can use, and they stay.
func identity(t *testing.T, a, b *station) {
	for _, s := range []*station{a, b} {
		d := s.dev
		if n := len(d.Name()); n < 1 || n > 15 {
			t.Errorf("Name: got %q, want 1 to 15 characters", d.Name())
		}
		if d.Addr().IsGroup() || d.Addr() == (frame.MAC{}) {
			t.Errorf("Addr: got %v, want one station's", d.Addr())
		}
		if d.MTU() < 100 { // docs/spec/01-wire.md §1.1
			t.Errorf("MTU: got %d, want at least 100", d.MTU())
		}
		if d.FD() < -1 {
			t.Errorf("FD: got %d, want a descriptor or -1", d.FD())
		}
		if in, out := d.Dropped(); in != 0 || out != 0 {
			t.Errorf("Dropped: got %d, %d, want 0, 0", in, out)
		}
	}
	if a.dev.Addr() == b.dev.Addr() {
		t.Errorf("got the address %v twice", a.dev.Addr())
	}
	name, addr, mtu := a.dev.Name(), a.dev.Addr(), a.dev.MTU()
	note, bufs := a.some(b, 0, 1)
	a.send(bufs...)
	b.expect(1, note...)
	a.dev.Close()
	if d := a.dev; d.Name() != name || d.Addr() != addr || d.MTU() != mtu {
		t.Errorf("closed: got %q %v %d, want %q %v %d as before", d.Name(), d.Addr(), d.MTU(), name, addr, mtu)
	}
}

// attachOnce: a second Attach is refused and changes nothing.
func attachOnce(t *testing.T, a, b *station) {
	other := netdev.NewArena(netdev.ArenaConfig{Small: 256})
	if err := b.dev.Attach(other, func() { t.Error("the second wake was called") }); err == nil {
		t.Error("Attach again: got nil, want an error")
	}
	notes, bufs := a.some(b, 0, 8)
	a.send(bufs...)
	b.expect(8, notes...)
	if other.Free() != other.Total() {
		t.Errorf("got %d chunks of the second arena taken, want 0", other.Total()-other.Free())
	}
}

// emptyBatches: no frames are no error.
func emptyBatches(t *testing.T, a, b *station) {
	none := []*netdev.Buffer{}
	for _, bufs := range [][]*netdev.Buffer{nil, none} {
		if n, err := a.dev.Transmit(bufs); n != 0 || err != nil {
			t.Errorf("Transmit of nothing: got %v, %v, want 0, nil", n, err)
		}
		if n, err := a.dev.Receive(bufs); n != 0 || err != nil {
			t.Errorf("Receive into nothing: got %v, %v, want 0, nil", n, err)
		}
	}
	if n, err := b.dev.Receive(b.batch[:]); n != 0 || err != nil {
		t.Errorf("Receive of nothing: got %v, %v, want 0, nil", n, err)
	}
	// A look that has room for nothing takes nothing, nor the wake-up.
	notes, bufs := a.some(b, 0, 3)
	a.send(bufs...)
	if n, err := b.dev.Receive(none); n != 0 || err != nil {
		t.Errorf("Receive into nothing: got %v, %v, want 0, nil", n, err)
	}
	b.expect(3, notes...)
}
