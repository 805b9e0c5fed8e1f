// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// Proves: device.contract
func TestXSKFramesOfEverySizePass(t *testing.T) {
	for _, mode := range modes {
		for _, mtu := range []int{100, 1500, 3506, 3822, 3823, 3954, 9000, 65000, 65535} {
			t.Run(fmt.Sprint(mode, " ", mtu), func(t *testing.T) {
				_, a, b := xskPair(t, mtu, mode)
				if got := a.MTU(); got != mtu {
					t.Errorf("MTU: got %d, want %d", got, mtu)
				}
				var frames [][]byte
				for i, size := range []int{14, 15, 38, 59, 60, 64, mtu - 1, mtu, mtu + 13, mtu + 14} {
					frames = append(frames, raw(b.Addr(), a.Addr(), size, uint32(i)))
				}
				offer(t, a, frames...)
				for i, got := range receiveXSK(t, b, len(frames)) {
					if !bytes.Equal(got, frames[i]) {
						t.Errorf("frame %d: got %d bytes, want %d, or contents differ", i, len(got), len(frames[i]))
					}
				}
				silentXSK(t, b)
				silentXSK(t, a)
				for _, x := range []*xdp.XSK{a, b} {
					if in, out := x.Dropped(); in != 0 || out != 0 {
						t.Errorf("%s: dropped %d in, %d out, want none", x.Name(), in, out)
					}
				}
			})
		}
	}
}

// Frames of every length from nothing up to 100 bytes over the MTU: whatever the
// sender may do, what is legal arrives and nothing else.
func TestXSKEveryLength(t *testing.T) {
	for _, mode := range modes {
		for _, mtu := range []int{1500, 3822} {
			t.Run(fmt.Sprint(mode, " ", mtu), func(t *testing.T) {
				d, a, b := xskPair(t, mtu, mode)
				step := 1
				if mtu > 1500 {
					step = 29
				}
				for size := 0; size <= mtu+100; size += step {
					f := raw(b.Addr(), a.Addr(), max(size, frame.EthernetLen), uint32(size))[:size]
					if size >= frame.EthernetLen && size <= mtu+frame.EthernetLen {
						offer(t, a, f)
						if got := receiveXSK(t, b, 1)[0]; !bytes.Equal(got, f) {
							t.Fatalf("frame of %d bytes: got %d", size, len(got))
						}
						continue
					}
					var refused *xdp.FrameError
					if n, err := a.Transmit(buffers(t, f)); n != 0 || !errors.As(err, &refused) || refused.Len != size {
						t.Fatalf("frame of %d bytes: got %d, %v, want a refusal", size, n, err)
					}
				}
				// And what comes from a sender that keeps no rules.
				if mode == xdp.ModeNative && mtu > 1500 {
					return // the program does not let the interface be raised
				}
				d.a.Run("ip", "link", "set", "dev", nameA, "mtu", fmt.Sprint(mtu+100))
				w := openWire(t, d.a, nameA)
				last := raw(b.Addr(), a.Addr(), 64, 7)
				for size := mtu + 15; size <= mtu+100; size++ {
					_, _ = unix.Write(w.fd, raw(b.Addr(), a.Addr(), size, uint32(size)))
				}
				w.send(last)
				if got := receiveXSK(t, b, 1)[0]; !bytes.Equal(got, last) {
					t.Errorf("got a frame of %d bytes, want the last, of 64", len(got))
				}
			})
		}
	}
}

// Proves: device.filter
func TestXSKReceiveFilter(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			d := newBed(t, 1500)
			b := attachXSK(t, d.b, nameB, &xdp.XSKConfig{Mode: mode}, newArena(1500))
			d.b.Run("ip", "link", "set", "dev", nameB, "promisc", "on")
			w := openWire(t, d.a, nameA)
			kernel := openListener(t, d.b, nameB)
			me, peer, other := b.Addr(), frame.MAC{2, 0, 0, 0, 0, 1}, frame.MAC{2, 0, 0, 0, 0, 9}

			typed := func(hi, lo byte) []byte {
				f := raw(me, peer, 64, 0)
				f[12], f[13] = hi, lo
				return f
			}
			tagged := func(dst frame.MAC, tpid, vlan uint16) []byte {
				f := raw(dst, peer, 64, 0)
				tag := []byte{byte(tpid >> 8), byte(tpid), byte(vlan >> 8), byte(vlan)}
				return append(f[:12:12], append(tag, f[12:]...)...)
			}
			near := func(i int) frame.MAC { m := me; m[i] ^= 2; return m }
			type test struct {
				what string
				f    []byte
				want bool
			}
			const malformed = "tagged, cut behind the tag"
			tests := []test{
				{"to the station", raw(me, peer, 64, 0), true},
				{"to all", raw(frame.BroadcastMAC, peer, 64, 0), true},
				{"to a group", raw(frame.MAC{1, 0, 0x5e, 0, 0, 1}, peer, 64, 0), true},
				{"of 38 bytes", raw(me, peer, 38, 0), true},
				{"of a header alone", raw(me, peer, 14, 0), true},
				{"padded to 60", raw(me, peer, 60, 0), true},
				{"to another station", raw(other, peer, 64, 0), false},
				{"of IPv4", typed(0x08, 0x00), false},
				{"of ARP", typed(0x08, 0x06), false},
				{"of the type before", typed(0x88, 0xc9), false},
				{"of the type after", typed(0x88, 0xcb), false},
				{"of the type in the wrong byte order", typed(0xca, 0x88), false},
				{"of an 802.3 length", typed(0x00, 0x32), false},
				{"tagged, VLAN 5", tagged(me, 0x8100, 5), false},
				{"tagged, VLAN 256", tagged(me, 0x8100, 256), false},
				{"tagged, VLAN 5, to all", tagged(frame.BroadcastMAC, 0x8100, 5), false},
				{"tagged, VLAN 4094, priority 7", tagged(me, 0x8100, 0xeffe), false},
				{"tagged by a provider", tagged(me, 0x88a8, 5), false},
				{"with a priority alone, VLAN 0", tagged(me, 0x8100, 0xe000), true},
				{"with a provider's priority alone", tagged(me, 0x88a8, 0xe000), true},
				{"with a priority, to another station", tagged(other, 0x8100, 0xe000), false},
				{malformed, tagged(me, 0x8100, 0)[:17], false},
			}
			for i := range 6 {
				tests = append(tests, test{fmt.Sprint("to a station that differs in byte ", i), raw(near(i), peer, 64, 0), false})
			}
			for _, c := range tests {
				w.send(c.f)
				mark := raw(me, peer, 99, 0)
				w.send(mark)
				got := false
				for f := receiveXSK(t, b, 1)[0]; !bytes.Equal(f, mark); f = receiveXSK(t, b, 1)[0] {
					got = true
					want := c.f
					if len(want) > 64 { // without the tag
						want = append(want[:12:12], want[16:]...)
					}
					if c.want && !bytes.Equal(f, want) {
						t.Errorf("frame %s: got % x, want % x", c.what, f, want)
					}
				}
				if got != c.want {
					t.Errorf("frame %s: received %v, want %v", c.what, got, c.want)
				}
				// What is not ours the kernel has, and what is ours it has not.
				heard := 0
				var in [2000]byte
				for {
					n, _, err := unix.Recvfrom(kernel, in[:], unix.MSG_DONTWAIT)
					if err != nil {
						break
					}
					if heard++; bytes.Equal(in[:n], mark) {
						t.Errorf("frame %s: the kernel heard the mark", c.what)
					}
				}
				if (heard > 0) == c.want && c.what != malformed {
					t.Errorf("frame %s: the kernel heard %d frames, received %v", c.what, heard, got)
				}
			}
		})
	}
}

func TestXSKOwnFramesDoNotComeBack(t *testing.T) {
	for _, mode := range modes {
		_, a, b := xskPair(t, 1500, mode)
		for _, dst := range []frame.MAC{frame.BroadcastMAC, a.Addr(), b.Addr()} {
			offer(t, a, raw(dst, a.Addr(), 64, 1))
		}
		receiveXSK(t, b, 2) // not the one to a's own address
		mark := raw(a.Addr(), b.Addr(), 64, 2)
		offer(t, b, mark)
		if got := receiveXSK(t, a, 1)[0]; !bytes.Equal(got, mark) {
			t.Errorf("got % x, want b's frame first", got)
		}
		silentXSK(t, a)
	}
}

// The two drivers understand each other.
//
// Proves: device.filter
func TestXSKBesidePacket(t *testing.T) {
	for _, mode := range modes {
		for _, mtu := range []int{1500, 9000} {
			d := newBed(t, mtu)
			a := attachXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: mode}, newArena(mtu))
			b, _ := open(t, d.b, nameB, nil)
			there, back := raw(b.Addr(), a.Addr(), mtu+14, 1), raw(a.Addr(), b.Addr(), mtu+14, 2)
			offer(t, a, there)
			if got := await(t, b, 1)[0]; !bytes.Equal(got, there) {
				t.Errorf("%v, mtu %d: AF_PACKET got another frame", mode, mtu)
			}
			transmit(t, b, back)
			if got := receiveXSK(t, a, 1)[0]; !bytes.Equal(got, back) {
				t.Errorf("%v, mtu %d: AF_XDP got another frame", mode, mtu)
			}
		}
	}
}

func TestXSKAttach(t *testing.T) {
	d := newBed(t, 1500)
	x := openXSK(t, d.a, nameA, nil)
	one := make([]*netdev.Buffer, 1)
	if _, err := x.Receive(one); !errors.Is(err, xdp.ErrNotAttached) {
		t.Errorf("Receive before Attach: got %v, want %v", err, xdp.ErrNotAttached)
	}
	if _, err := x.Transmit(one); !errors.Is(err, xdp.ErrNotAttached) {
		t.Errorf("Transmit before Attach: got %v, want %v", err, xdp.ErrNotAttached)
	}
	empty := netdev.NewArena(netdev.ArenaConfig{Small: 64})
	for empty.Get(1, netdev.Control) != nil {
	}
	if err := x.Attach(empty, nil); !errors.Is(err, xdp.ErrArena) {
		t.Errorf("Attach of an empty arena: got %v, want %v", err, xdp.ErrArena)
	}
	if err := x.Attach(newArena(1500), nil); err != nil {
		t.Errorf("Attach: got %v, want nil", err)
	}
	if err := x.Attach(newArena(1500), nil); !errors.Is(err, xdp.ErrAttached) {
		t.Errorf("Attach again: got %v, want %v", err, xdp.ErrAttached)
	}
}

// Modes are told, and so is why others were not taken.
//
// Proves: device.open
func TestXSKSaysWhatItIs(t *testing.T) {
	for _, c := range []struct {
		cfg  xdp.XSKConfig
		mtu  int
		mode xdp.Mode
		says string // parts, divided by |
	}{
		{xdp.XSKConfig{}, 1500, xdp.ModeGeneric, "AF_XDP on utipcA|mtu 1500|driver veth|generic mode, copied|queues 0 of 1"},
		{xdp.XSKConfig{Mode: xdp.ModeGeneric}, 1500, xdp.ModeGeneric, "generic mode, copied"},
		{xdp.XSKConfig{Mode: xdp.ModeNative}, 1500, xdp.ModeNative, "native mode, copied"},
		{xdp.XSKConfig{Mode: xdp.ModeNative}, 3700, xdp.ModeNative, "native mode, copied"},
		{xdp.XSKConfig{}, 9000, xdp.ModeGeneric, "mtu 9000|frames of several chunks"},
		{xdp.XSKConfig{MultiBuffer: true}, 1500, xdp.ModeGeneric, "frames of several chunks"},
	} {
		d := newBed(t, c.mtu)
		cfg := c.cfg
		x := attachXSK(t, d.a, nameA, &cfg, newArena(c.mtu))
		if x.Mode() != c.mode || x.ZeroCopy() {
			t.Errorf("%+v: got %v mode, zero-copy %v, want %v", c.cfg, x.Mode(), x.ZeroCopy(), c.mode)
		}
		for part := range strings.SplitSeq(c.says, "|") {
			if got := x.String(); !strings.Contains(got, part) {
				t.Errorf("%+v: got %q, want %q in it", c.cfg, got, part)
			}
		}
	}
}

// A driver without native mode gets generic mode, and String says why.
//
// Proves: device.open
func TestXSKKeepsRefusals(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "link", nameA, "name", "mac0", "type", "macvlan", "mode", "bridge")
	d.a.Run("ip", "link", "set", "dev", "mac0", "up")
	d.a.WaitCarrier("mac0", true)
	a := attachXSK(t, d.a, "mac0", nil, newArena(1500))
	if got := a.Mode(); got != xdp.ModeGeneric {
		t.Errorf("got %v mode, want generic", got)
	}
	var lacks *xdp.FeatureError
	if got := a.Refused(); len(got) != 1 || !errors.As(got[0], &lacks) {
		t.Errorf("Refused: got %v, want one FeatureError", got)
	}
	for _, part := range []string{"generic mode, copied", "refused: ", "native mode", "driver macvlan"} {
		if got := a.String(); !strings.Contains(got, part) {
			t.Errorf("got %q, want %q in it", got, part)
		}
	}
	// And it works.
	b := attachXSK(t, d.b, nameB, nil, newArena(1500))
	for range 20 {
		flowsXSK(t, a, b)
	}
	// Asked for by name, it is an error that says both.
	a.Close()
	var err error
	d.a.Do(func() { _, err = patient.OpenXSK("mac0", &xdp.XSKConfig{Mode: xdp.ModeNative}) })
	if !errors.As(err, &lacks) || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "AF_PACKET") {
		t.Errorf("native mode: got %v, want a FeatureError", err)
	}
}

// Ready says whether Receive is worth calling, at any time.
func TestXSKReady(t *testing.T) {
	d := newBed(t, 1500)
	b := attachXSK(t, d.b, nameB, nil, newArena(1500))
	a := openXSK(t, d.a, nameA, nil)
	if !a.Ready() {
		t.Error("before Attach: got false, want true: there is something to tell")
	}
	if err := a.Attach(newArena(1500), nil); err != nil {
		t.Fatal(err)
	}
	if a.Ready() {
		t.Error("nothing has arrived: got true, want false")
	}
	offer(t, b, raw(a.Addr(), b.Addr(), 64, 1))
	poll(t, a.FD())
	if !a.Ready() {
		t.Error("a frame has arrived: got false, want true")
	}
	receiveXSK(t, a, 1)
	if a.Ready() {
		t.Error("all is received: got true, want false")
	}
	a.Close()
	if !a.Ready() {
		t.Error("closed: got false, want true")
	}
}
