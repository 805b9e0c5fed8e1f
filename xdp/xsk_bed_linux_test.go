// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// modes are those a veth has.
var modes = []xdp.Mode{xdp.ModeGeneric, xdp.ModeNative}

// openXSK opens an interface; the test closes it.
func openXSK(tb testing.TB, ns *netns.NS, name string, cfg *xdp.XSKConfig) *xdp.XSK {
	tb.Helper()
	var x *xdp.XSK
	var err error
	ns.Do(func() { x, err = patient.OpenXSK(name, cfg) })
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { x.Close() })
	return x
}

// attachXSK opens and attaches an interface; the test closes it, and looks
// whether all chunks are back.
func attachXSK(tb testing.TB, ns *netns.NS, name string, cfg *xdp.XSKConfig, arena *netdev.Arena) *xdp.XSK {
	tb.Helper()
	tb.Cleanup(func() {
		if got, want := arena.Free(), arena.Total(); got != want && !tb.Failed() {
			tb.Errorf("%s: after Close %d chunks of %d are free", name, got, want)
		}
	})
	x := openXSK(tb, ns, name, cfg)
	if err := x.Attach(arena, nil); err != nil {
		tb.Fatal(err)
	}
	return x
}

// xskPair opens both ends of a new bed in a mode, each with an arena of its own.
func xskPair(tb testing.TB, mtu int, mode xdp.Mode) (d *bed, a, b *xdp.XSK) {
	tb.Helper()
	d = newBed(tb, mtu)
	a = attachXSK(tb, d.a, nameA, &xdp.XSKConfig{Mode: mode}, newArena(mtu))
	b = attachXSK(tb, d.b, nameB, &xdp.XSKConfig{Mode: mode}, newArena(mtu))
	return d, a, b
}

// offer sends all frames through x, again and again while it is full.
func offer(tb testing.TB, x *xdp.XSK, frames ...[]byte) {
	tb.Helper()
	bufs := buffers(tb, frames...)
	defer func() {
		for _, b := range bufs {
			b.Release()
		}
	}()
	end := time.Now().Add(testTimeout)
	for left := bufs; len(left) > 0; runtime.Gosched() {
		n, err := x.Transmit(left)
		if err != nil || time.Now().After(end) {
			tb.Fatalf("%s: Transmit: got %d, %v, want %d", x.Name(), n, err, len(left))
		}
		left = left[n:]
	}
}

// receiveXSK receives n frames, sleeping in poll until they come.
func receiveXSK(tb testing.TB, x *xdp.XSK, n int) (frames [][]byte) {
	tb.Helper()
	var bufs [16]*netdev.Buffer
	for len(frames) < n {
		got, err := x.Receive(bufs[:min(len(bufs), n-len(frames))])
		if err != nil {
			tb.Fatalf("%s: Receive: %v", x.Name(), err)
		}
		for _, b := range bufs[:got] {
			frames = append(frames, append([]byte(nil), b.Bytes()...))
			b.Release()
		}
		if got == 0 {
			poll(tb, x.FD())
		}
	}
	return frames
}

// silentXSK says that nothing waits in x.
func silentXSK(tb testing.TB, x *xdp.XSK) {
	tb.Helper()
	var bufs [4]*netdev.Buffer
	n, err := x.Receive(bufs[:])
	if n != 0 || err != nil {
		tb.Errorf("%s: Receive: got %d, %v, want nothing", x.Name(), n, err)
	}
	for _, b := range bufs[:n] {
		b.Release()
	}
}

// A listener is a bare packet socket that hears what the kernel is given.
func openListener(tb testing.TB, ns *netns.NS, name string) (fd int) {
	tb.Helper()
	w := openWire(tb, ns, name)
	all := uint16(unix.ETH_P_ALL)
	if err := unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: all<<8 | all>>8, Ifindex: ifindex(tb, ns, name)}); err != nil {
		tb.Fatal(err)
	}
	return w.fd
}

func ifindex(tb testing.TB, ns *netns.NS, name string) (index int) {
	tb.Helper()
	ns.Do(func() {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			tb.Fatal(err)
		}
		defer unix.Close(fd)
		ifr, _ := unix.NewIfreq(name)
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, ifr); err != nil {
			tb.Fatal(err)
		}
		index = int(ifr.Uint32())
	})
	return index
}
