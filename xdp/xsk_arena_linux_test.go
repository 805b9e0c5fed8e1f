// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// Devices that share an arena share its registration; one goes, the other works
// on, and another one comes.
//
// Proves: device.contract
func TestXSKSharedArena(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := newBed(t, 1500)
			netns.Veth(t, d.a, d.b, "otherA", "otherB", 1500)
			arena := newArena(1500)
			cfg := &xdp.XSKConfig{Mode: mode, Fill: 64}
			t.Cleanup(func() {
				if got, want := arena.Free(), arena.Total(); got != want && !t.Failed() {
					t.Errorf("all closed: got %d chunks free, want %d", got, want)
				}
			})
			join := func(name string) *xdp.XSK {
				x := openXSK(t, d.a, name, cfg)
				if err := x.Attach(arena, nil); err != nil {
					t.Fatal(err)
				}
				return x
			}
			a, o := join(nameA), join("otherA")
			peerA := attachXSK(t, d.b, nameB, cfg, newArena(1500))
			peerO := attachXSK(t, d.b, "otherB", cfg, newArena(1500))
			one := arena.Get(64, netdev.Data)
			defer one.Release()
			// One buffer through both devices: no copy, and no mixing up.
			talk := func(devices ...[2]*xdp.XSK) {
				t.Helper()
				for round := range uint32(500) {
					for _, p := range devices {
						out := raw(p[1].Addr(), p[0].Addr(), 64, round)
						one.Resize(64)
						copy(one.Bytes(), out)
						if n, err := p[0].Transmit([]*netdev.Buffer{one}); n != 1 || err != nil {
							t.Fatalf("Transmit: got %d, %v", n, err)
						}
						if got := receiveXSK(t, p[1], 1)[0]; !bytes.Equal(got, out) {
							t.Fatalf("round %d: got % x, want % x", round, got, out)
						}
						back := raw(p[0].Addr(), p[1].Addr(), 64, round)
						offer(t, p[1], back)
						if got := receiveXSK(t, p[0], 1)[0]; !bytes.Equal(got, back) {
							t.Fatalf("round %d: got % x, want % x", round, got, back)
						}
					}
				}
			}
			if got := xdp.Registrations(arena); got != 1 {
				t.Errorf("two devices: got %d registrations, want 1", got)
			}
			talk([2]*xdp.XSK{a, peerA}, [2]*xdp.XSK{o, peerO})
			a.Close() // whose socket had registered the memory
			if got, want := arena.Free(), arena.Total()-64-1; got != want {
				t.Errorf("one of two closed: got %d chunks free, want %d", got, want)
			}
			talk([2]*xdp.XSK{o, peerO})
			a = join(nameA)
			talk([2]*xdp.XSK{a, peerA}, [2]*xdp.XSK{o, peerO})
			if got := xdp.Registrations(arena); got != 1 {
				t.Errorf("another device: got %d registrations, want 1", got)
			}
			a.Close()
			o.Close()
			if got := xdp.Registrations(arena); got != 0 {
				t.Errorf("all closed: got %d registrations, want 0", got)
			}
		})
	}
}

// Three devices leave chunks for data of an arena in which as many are large: only small
// ones are in the fill ring.
//
// Proves: memory.small
func TestXSKDevicesLeaveChunks(t *testing.T) {
	d := newBed(t, 1500)
	netns.Veth(t, d.a, d.b, "secondA", "secondB", 1500)
	netns.Veth(t, d.a, d.b, "thirdA", "thirdB", 1500)
	const small, most = 512, 3 * 512 / 4
	arena := netdev.NewArena(netdev.ArenaConfig{Small: small, Jumbo: 512, JumboSize: 14000})
	for _, name := range []string{nameA, "secondA", "thirdA"} {
		if err := openXSK(t, d.a, name, nil).Attach(arena, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if inFill := arena.Total() - arena.Free(); inFill > most {
		t.Errorf("%d chunks of %d in the fill ring, want at most %d", inFill, small, most)
	}
	b := arena.Get(64, netdev.Control)
	if b == nil || b.Index() >= small {
		t.Fatal("no small chunk is free")
	}
	b.Release()
}

// Devices with and without frames in pieces cannot share a registration, but the
// memory.
//
// Proves: device.contract
func TestXSKSharedArenaOfUnlikeDevices(t *testing.T) {
	d := newBed(t, 1500)
	netns.Veth(t, d.a, d.b, "otherA", "otherB", 9000)
	arena := newArena(9000)
	t.Cleanup(func() {
		if got, want := arena.Free(), arena.Total(); got != want && !t.Failed() {
			t.Errorf("all closed: got %d chunks free, want %d", got, want)
		}
	})
	peers := []*xdp.XSK{
		attachXSK(t, d.b, nameB, nil, newArena(1500)),
		attachXSK(t, d.b, "otherB", nil, newArena(9000)),
	}
	for i, name := range []string{nameA, "otherA"} {
		x := openXSK(t, d.a, name, &xdp.XSKConfig{Fill: 64})
		if err := x.Attach(arena, nil); err != nil {
			t.Fatal(err)
		}
		if got := xdp.Registrations(arena); got != i+1 {
			t.Errorf("%s: got %d registrations, want %d", name, got, i+1)
		}
		for range 3 {
			f := raw(peers[i].Addr(), x.Addr(), x.MTU()+14, 1)
			offer(t, x, f)
			if got := receiveXSK(t, peers[i], 1)[0]; !bytes.Equal(got, f) {
				t.Errorf("%s: got another frame", name)
			}
			f = raw(x.Addr(), peers[i].Addr(), x.MTU()+14, 2)
			offer(t, peers[i], f)
			if got := receiveXSK(t, x, 1)[0]; !bytes.Equal(got, f) {
				t.Errorf("%s: got another frame", name)
			}
		}
	}
}

// When the arena is empty, frames are lost and counted; when chunks are back they
// arrive again.
//
// Proves: device.rings
func TestXSKEmptyArena(t *testing.T) {
	d := newBed(t, 1500)
	arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	b := attachXSK(t, d.b, nameB, nil, arena)
	a := attachXSK(t, d.a, nameA, nil, newArena(1500))
	var taken []*netdev.Buffer
	for x := arena.Get(1, netdev.Control); x != nil; x = arena.Get(1, netdev.Control) {
		taken = append(taken, x)
	}
	in := make([]*netdev.Buffer, 64)
	for i := range uint32(40) {
		offer(t, a, raw(b.Addr(), a.Addr(), 64, i))
	}
	var lost uint64
	until(t, "all frames", func() bool {
		a.Transmit(nil) // what the kernel had no room for is still in the ring
		lost, _ = b.Dropped()
		return lost >= 24
	})
	n, err := b.Receive(in)
	if n != 16 || err != nil {
		t.Fatalf("got %d, %v, want the 16 that had a chunk", n, err)
	}
	if lost, _ = b.Dropped(); lost != 24 {
		t.Errorf("got %d dropped, want 24", lost)
	}
	for _, x := range append(taken, in[:n]...) {
		x.Release()
	}
	silentXSK(t, b) // takes the chunks
	for i := range uint32(16) {
		offer(t, a, raw(b.Addr(), a.Addr(), 64, i))
	}
	for i, f := range receiveXSK(t, b, 16) {
		if f[17] != byte(i) {
			t.Errorf("got number %d, want %d", f[17], i)
		}
	}
}
