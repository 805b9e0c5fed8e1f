// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// fill sends copies of f until the device takes no more and returns how many it
// took. Being full is no error.
func fill(t *testing.T, p *xdp.Packet, f []byte) (taken int) {
	t.Helper()
	bufs := buffers(t, f, f, f, f, f, f, f, f)
	for range 10000 {
		n, err := p.Transmit(bufs)
		taken += n
		if err != nil {
			t.Fatalf("after %d frames: %v", taken, err)
		}
		if n < len(bufs) {
			if n, err := p.Transmit(bufs[n:]); n != 0 || err != nil {
				t.Errorf("offered again: got %d, %v, want 0, nil", n, err)
			}
			return taken
		}
	}
	t.Fatalf("took %d frames and is not full", taken)
	return 0
}

// The frames wait in a queueing discipline that lets next to nothing through.
func TestSendBufferFull(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("tc", "qdisc", "add", "dev", nameA, "root", "tbf", "rate", "8bit", "burst", "2kb", "limit", "100mb")
	a, _ := open(t, d.a, nameA, &xdp.PacketConfig{SendBuffer: 64 << 10, Qdisc: true})
	b, _ := open(t, d.b, nameB, nil)
	f := raw(b.Addr(), a.Addr(), 1000, 7)
	transmit(t, a, f, f) // the burst goes through, and must not make room later
	await(t, b, 2)
	if got := fill(t, a, f); got < 10 {
		t.Errorf("took %d frames, want some tens", got)
	}
	d.a.Run("tc", "qdisc", "del", "dev", nameA, "root") // throws away what waits
	transmit(t, a, raw(b.Addr(), a.Addr(), 64, 8))
	for got := await(t, b, 1)[0]; len(got) != 64; got = await(t, b, 1)[0] {
		if !bytes.Equal(got, f) {
			t.Fatalf("got % x", got)
		}
	}
	if _, out := a.Dropped(); out != 0 {
		t.Errorf("dropped %d out, want none", out)
	}
}

// The frames wait in a tap device whose other side nobody reads.
func TestInterfaceQueueFull(t *testing.T) {
	d := newBed(t, 1500)
	tap := openTap(t, d, "tap0")
	p, _ := open(t, d.a, "tap0", nil)
	f := raw(frame.BroadcastMAC, p.Addr(), 100, 7)
	if got := fill(t, p, f); got < 10 {
		t.Errorf("took %d frames, want some tens", got)
	}
	for {
		var b [2000]byte
		n, err := unix.Read(tap, b[:])
		if err == unix.EAGAIN {
			break
		}
		if err != nil || !bytes.Equal(b[:n], f) {
			t.Fatalf("the tap: got % x, %v", b[:max(n, 0)], err)
		}
	}
	transmit(t, p, f)
	if _, out := p.Dropped(); out != 0 {
		t.Errorf("dropped %d out, want none", out)
	}
}

// openTap makes an interface whose other side is the descriptor returned.
func openTap(t *testing.T, d *bed, name string) (fd int) {
	t.Helper()
	var err error
	d.a.Do(func() {
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return
		}
		ifr, _ := unix.NewIfreq(name)
		ifr.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	})
	if err != nil {
		tier.Missing(t, "no tap device:", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	d.a.Run("ip", "link", "set", "dev", name, "addrgenmode", "none")
	d.a.Run("ip", "link", "set", "dev", name, "up")
	d.a.WaitCarrier(name, true)
	return fd
}

// The interface takes frames of 3000 bytes, its other end none beyond 1500: the kernel
// answers ENOBUFS to each long one, for ever. Fails when such a frame is offered again
// without an end, which keeps those behind it from the wire.
func TestFrameThatIsAlwaysRefused(t *testing.T) {
	d := newBed(t, 1500)
	a, _ := open(t, d.a, nameA, nil)
	b, _ := open(t, d.b, nameB, nil)
	d.a.Run("ip", "link", "set", "dev", nameA, "mtu", "3000")
	long, short := raw(b.Addr(), a.Addr(), 2500, 1), raw(b.Addr(), a.Addr(), 64, 2)
	bufs := buffers(t, long, long, short)
	var lost []error
	for end := time.Now().Add(testTimeout); len(bufs) > 0; runtime.Gosched() {
		n, err := a.Transmit(bufs)
		if err != nil {
			lost = append(lost, err)
			n++
		}
		if bufs = bufs[n:]; time.Now().After(end) {
			t.Fatalf("%d frames are still offered", len(bufs))
		}
	}
	if len(lost) != 2 || !errors.Is(lost[0], unix.ENOBUFS) || !errors.As(lost[1], new(*xdp.FrameError)) {
		t.Errorf("got %v, want both long frames refused", lost)
	}
	if got := await(t, b, 1)[0]; !bytes.Equal(got, short) {
		t.Errorf("got % x, want the short frame", got)
	}
	if _, out := a.Dropped(); out != 2 {
		t.Errorf("dropped %d out, want 2", out)
	}
}
