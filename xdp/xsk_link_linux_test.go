// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// woken attaches an interface whose wake rings the channel.
func woken(t *testing.T, d *bed, mode xdp.Mode, mtu int, arena *netdev.Arena) (*xdp.XSK, chan struct{}) {
	t.Helper()
	wake := make(chan struct{}, 1)
	x := openXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: mode})
	if err := x.Attach(arena, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	return x, wake
}

// awaitMTU sleeps on the wake-up until the MTU is as wanted.
func awaitMTU(t *testing.T, x *xdp.XSK, wake chan struct{}, want int) {
	t.Helper()
	for end := time.After(testTimeout); x.MTU() != want; {
		select {
		case <-wake:
		case <-end:
			t.Fatalf("MTU: got %d, want %d", x.MTU(), want)
		}
	}
}

// wantTransmitXSK offers one frame and wants the error.
func wantTransmitXSK(t *testing.T, x *xdp.XSK, want error) {
	t.Helper()
	n, err := x.Transmit(buffers(t, raw(frame.BroadcastMAC, x.Addr(), 64, 0)))
	if n != 0 || !errors.Is(err, want) {
		t.Errorf("Transmit: got %d, %v, want 0, %v", n, err, want)
	}
}

// flowsXSK sends a frame each way.
func flowsXSK(t *testing.T, a, b *xdp.XSK) {
	t.Helper()
	for _, way := range [][2]*xdp.XSK{{a, b}, {b, a}} {
		f := raw(way[1].Addr(), way[0].Addr(), 64, 1)
		offer(t, way[0], f)
		if got := receiveXSK(t, way[1], 1)[0]; !bytes.Equal(got, f) {
			t.Errorf("got % x, want % x", got, f)
		}
	}
}

func TestXSKDownAndUp(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := newBed(t, 1500)
			a, wake := woken(t, d, mode, 1500, newArena(1500))
			b := attachXSK(t, d.b, nameB, &xdp.XSKConfig{Mode: mode}, newArena(1500))
			awaitMTU(t, a, wake, 1500)
			d.b.WaitCarrier(nameB, true)
			flowsXSK(t, a, b)
			for range 2 {
				// Both ends must have noticed before it is up again, or b notices later.
				d.a.Run("ip", "link", "set", "dev", nameA, "down")
				awaitMTU(t, a, wake, 0)
				untilMTU(t, b, 0)
				silentXSK(t, a)
				wantTransmitXSK(t, a, xdp.ErrDown)
				wantTransmitXSK(t, a, xdp.ErrDown)
				d.a.Run("ip", "link", "set", "dev", nameA, "up")
				awaitMTU(t, a, wake, 1500)
				d.b.WaitCarrier(nameB, true)
				untilMTU(t, b, 1500)
				flowsXSK(t, a, b)

				d.b.Run("ip", "link", "set", "dev", nameB, "down")
				awaitMTU(t, a, wake, 0)
				untilMTU(t, b, 0)
				wantTransmitXSK(t, a, xdp.ErrNoCarrier)
				d.b.Run("ip", "link", "set", "dev", nameB, "up")
				awaitMTU(t, a, wake, 1500)
				untilMTU(t, b, 1500)
				flowsXSK(t, a, b)
			}
			if _, out := a.Dropped(); out != 6 {
				t.Errorf("dropped %d out, want 6", out)
			}
		})
	}
}

// untilMTU waits for the MTU of a device without a wake-up.
func untilMTU(t *testing.T, x *xdp.XSK, want int) {
	t.Helper()
	for end := time.Now().Add(testTimeout); x.MTU() != want; {
		if time.Now().After(end) {
			t.Fatalf("MTU: got %d, want %d", x.MTU(), want)
		}
	}
}

func TestXSKRemoved(t *testing.T) {
	for _, mode := range modes {
		for _, how := range []string{"removed", "moved away"} {
			t.Run(fmt.Sprint(mode, " ", how), func(t *testing.T) {
				d := newBed(t, 1500)
				arena := newArena(1500)
				a, wake := woken(t, d, mode, 1500, arena)
				b := attachXSK(t, d.b, nameB, &xdp.XSKConfig{Mode: mode}, newArena(1500))
				flowsXSK(t, a, b)
				offer(t, b, raw(a.Addr(), b.Addr(), 64, 1))
				poll(t, a.FD()) // it waits there
				if how == "removed" {
					d.a.Run("ip", "link", "del", "dev", nameA)
				} else {
					d.a.Run("ip", "link", "set", "dev", nameA, "netns", d.b.Path())
				}
				awaitMTU(t, a, wake, 0)
				receiveXSK(t, a, 1) // what had arrived is given first
				for end := time.After(testTimeout); ; {
					if _, err := a.Receive(nil); err != nil {
						break // below
					}
					select { // it went down first
					case <-wake:
					case <-end:
						t.Fatal("nothing is told of the removal")
					}
				}
				for range 2 {
					if n, err := a.Receive(make([]*netdev.Buffer, 1)); n != 0 || !errors.Is(err, xdp.ErrRemoved) {
						t.Errorf("Receive: got %d, %v, want %v", n, err, xdp.ErrRemoved)
					}
					wantTransmitXSK(t, a, os.ErrNotExist)
				}
				if how == "removed" {
					// Another interface of that name is another interface.
					d.a.Run("ip", "link", "add", nameA, "type", "veth", "peer", "name", "other")
					d.a.Run("ip", "link", "set", "dev", nameA, "up")
					wantTransmitXSK(t, a, xdp.ErrRemoved)
				}
				a.Close()
				if got, want := arena.Free(), arena.Total(); got != want {
					t.Errorf("closed: got %d chunks free, want %d", got, want)
				}
				if how == "removed" {
					attachXSK(t, d.a, nameA, nil, newArena(1500))
				}
			})
		}
	}
}

// What happens to the interface between opening and attaching.
func TestXSKChangesBeforeAttach(t *testing.T) {
	d := newBed(t, 1500)
	b := attachXSK(t, d.b, nameB, nil, newArena(1500))
	a := openXSK(t, d.a, nameA, nil)
	d.a.Run("ip", "link", "set", "dev", nameA, "down")
	untilMTU(t, a, 0)
	untilMTU(t, b, 0) // or it notices later
	if err := a.Attach(newArena(1500), nil); err != nil {
		t.Fatalf("Attach while down: %v", err)
	}
	wantTransmitXSK(t, a, xdp.ErrDown)
	d.a.Run("ip", "link", "set", "dev", nameA, "up")
	untilMTU(t, a, 1500)
	untilMTU(t, b, 1500)
	flowsXSK(t, a, b)
	a.Close()

	a = openXSK(t, d.a, nameA, nil)
	d.a.Run("ip", "link", "del", "dev", nameA)
	untilMTU(t, a, 0)
	if err := a.Attach(newArena(1500), nil); !errors.Is(err, xdp.ErrRemoved) {
		t.Errorf("Attach when removed: got %v, want %v", err, xdp.ErrRemoved)
	}
}

// The MTU follows the interface, as far as device and arena go.
//
// Proves: device.changes
func TestXSKFollowsTheMTU(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   xdp.XSKConfig
		arena netdev.ArenaConfig
		mtus  [][2]int // of the interface, of the device
	}{
		{
			"one chunk",
			xdp.XSKConfig{},
			netdev.ArenaConfig{Small: 256},
			[][2]int{{1400, 1400}, {3822, 3822}, {3823, 3822}, {9000, 3822}, {1500, 1500}},
		},
		{
			"several chunks",
			xdp.XSKConfig{MultiBuffer: true},
			netdev.ArenaConfig{Small: 256, Jumbo: 32, JumboSize: 9014},
			[][2]int{{1400, 1400}, {9000, 9000}, {12146, 12146}, {20000, 12146}, {1500, 1500}},
		},
		{
			"several chunks, none of them large",
			xdp.XSKConfig{MultiBuffer: true},
			netdev.ArenaConfig{Small: 256},
			[][2]int{{1400, 1400}, {3954, 3954}, {9000, 3954}, {1500, 1500}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newBed(t, 1500)
			cfg := c.cfg
			b := attachXSK(t, d.b, nameB, &cfg, netdev.NewArena(c.arena))
			a := attachXSK(t, d.a, nameA, &cfg, netdev.NewArena(c.arena))
			for _, m := range c.mtus {
				d.a.Run("ip", "link", "set", "dev", nameA, "mtu", fmt.Sprint(m[0]))
				d.b.Run("ip", "link", "set", "dev", nameB, "mtu", fmt.Sprint(m[0]))
				untilMTU(t, a, m[1])
				untilMTU(t, b, m[1])
				longest := raw(b.Addr(), a.Addr(), m[1]+frame.EthernetLen, 3)
				offer(t, a, longest)
				if got := receiveXSK(t, b, 1)[0]; !bytes.Equal(got, longest) {
					t.Errorf("MTU %d: got a frame of %d bytes, want %d", m[0], len(got), len(longest))
				}
				var refused *xdp.FrameError
				if _, err := a.Transmit(buffers(t, append(longest, 0))); !errors.As(err, &refused) {
					t.Errorf("MTU %d, one byte more: got %v, want a refusal", m[0], err)
				}
			}
		})
	}
}
