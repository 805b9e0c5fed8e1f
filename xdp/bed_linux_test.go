// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"encoding/binary"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

const testTimeout = 2 * time.Minute

// patient opens as package xdp does, but waits for others as long as a test may take.
var patient xdp.Timeouts

// TestMain lets the test binary play another process; see roles.
func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleKey)]; role != nil {
		role(os.Args[1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A bed is a veth pair between two namespaces.
type bed struct {
	a, b *netns.NS
	mtu  int
}

const (
	nameA = "utipcA"
	nameB = "utipcB"
)

func newBed(tb testing.TB, mtu int) *bed {
	tb.Helper()
	netns.Require(tb)
	d := &bed{netns.New(tb), netns.New(tb), mtu}
	netns.Veth(tb, d.a, d.b, nameA, nameB, mtu)
	return d
}

func newArena(mtu int) *netdev.Arena {
	return netdev.NewArena(netdev.ArenaConfig{Small: 512, Jumbo: 256, JumboSize: mtu + frame.EthernetLen})
}

// open opens and attaches an interface; the test closes it.
func open(tb testing.TB, ns *netns.NS, name string, cfg *xdp.PacketConfig) (*xdp.Packet, *netdev.Arena) {
	tb.Helper()
	var p *xdp.Packet
	var err error
	ns.Do(func() { p, err = patient.OpenPacket(name, cfg) })
	if err != nil {
		tb.Fatal(err)
	}
	arena := newArena(p.MTU())
	tb.Cleanup(func() {
		p.Close()
		if got, want := arena.Free(), arena.Total(); got != want {
			tb.Errorf("%s: after Close %d chunks of %d are free", name, got, want)
		}
	})
	if err := p.Attach(arena, nil); err != nil {
		tb.Fatal(err)
	}
	return p, arena
}

// pair opens both ends of a new bed.
func pair(tb testing.TB, mtu int) (d *bed, a, b *xdp.Packet) {
	tb.Helper()
	d = newBed(tb, mtu)
	a, _ = open(tb, d.a, nameA, nil)
	b, _ = open(tb, d.b, nameB, nil)
	return d, a, b
}

// raw makes a frame of size bytes, numbered behind its header.
func raw(dst, src frame.MAC, size int, number uint32) []byte {
	f := make([]byte, size)
	for i := range f {
		f[i] = byte(i) ^ byte(number)
	}
	frame.PutEthernet(f, dst, src)
	if size >= frame.EthernetLen+4 {
		binary.BigEndian.PutUint32(f[frame.EthernetLen:], number)
	}
	return f
}

// buffers puts frames into chunks of a fresh arena.
func buffers(tb testing.TB, frames ...[]byte) (bufs []*netdev.Buffer) {
	tb.Helper()
	longest := 0
	for _, f := range frames {
		longest = max(longest, len(f))
	}
	arena := netdev.NewArena(netdev.ArenaConfig{Small: len(frames), Jumbo: len(frames), JumboSize: max(longest, netdev.SmallChunk)})
	for _, f := range frames {
		b := arena.Get(len(f), netdev.Control)
		copy(b.Extend(len(f)), f)
		bufs = append(bufs, b)
	}
	return bufs
}

// transmit sends all frames through p, again and again while it is full: what was sent
// before may not have been delivered yet.
func transmit(tb testing.TB, p device, frames ...[]byte) {
	tb.Helper()
	bufs := buffers(tb, frames...)
	for end := time.Now().Add(testTimeout); ; runtime.Gosched() {
		n, err := p.Transmit(bufs)
		if bufs = bufs[n:]; err == nil && len(bufs) == 0 {
			return
		}
		if err != nil || time.Now().After(end) {
			tb.Fatalf("%s: Transmit: got %d, %v, %d more wanted", p.Name(), n, err, len(bufs))
		}
	}
}

// until waits for what the kernel does after the call that causes it has returned.
func until(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	for end := time.Now().Add(testTimeout); !cond(); runtime.Gosched() {
		if time.Now().After(end) {
			tb.Fatalf("waited for %s in vain", what)
		}
	}
}

// await receives n frames, sleeping in poll until they come.
func await(tb testing.TB, p device, n int) (frames [][]byte) {
	tb.Helper()
	var bufs [16]*netdev.Buffer
	for len(frames) < n {
		poll(tb, p.FD())
		got, err := p.Receive(bufs[:min(len(bufs), n-len(frames))])
		if err != nil {
			tb.Fatalf("%s: Receive: %v", p.Name(), err)
		}
		for _, b := range bufs[:got] {
			frames = append(frames, append([]byte(nil), b.Bytes()...))
			b.Release()
		}
	}
	return frames
}

// poll sleeps until fd has an event and returns it.
func poll(tb testing.TB, fd int) int16 {
	tb.Helper()
	for end := time.Now().Add(testTimeout); ; {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(time.Until(end).Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			tb.Fatalf("poll: %d, %v, want an event within %v", n, err, testTimeout)
		}
		return p[0].Revents
	}
}

// silent says that nothing waits in p.
func silent(tb testing.TB, p device) {
	tb.Helper()
	var bufs [4]*netdev.Buffer
	n, err := p.Receive(bufs[:])
	if n != 0 || err != nil {
		tb.Errorf("%s: Receive: got %d, %v, want nothing", p.Name(), n, err)
	}
	for _, b := range bufs[:n] {
		b.Release()
	}
}

// A wire is a bare packet socket that sends anything.
type wire struct {
	tb testing.TB
	fd int
}

func openWire(tb testing.TB, ns *netns.NS, name string) *wire {
	tb.Helper()
	w := &wire{tb: tb}
	var err error
	ns.Do(func() {
		if w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return
		}
		ifr, _ := unix.NewIfreq(name)
		if err = unix.IoctlIfreq(w.fd, unix.SIOCGIFINDEX, ifr); err != nil {
			return
		}
		err = unix.Bind(w.fd, &unix.SockaddrLinklayer{Ifindex: int(ifr.Uint32())})
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Close(w.fd) })
	return w
}

func (w *wire) send(f []byte) {
	w.tb.Helper()
	for end := time.Now().Add(testTimeout); ; runtime.Gosched() {
		_, err := unix.Write(w.fd, f)
		if err == nil {
			return
		}
		// Where the kernel has not delivered what was sent before, it may have no room.
		if err != unix.ENOBUFS && err != unix.EINTR || time.Now().After(end) {
			w.tb.Fatalf("sending %d bytes: %v", len(f), err)
		}
	}
}

// waitGoroutines waits until there are no more than want: a goroutine that has
// said it is done needs a moment to vanish.
func waitGoroutines(tb testing.TB, want int) {
	tb.Helper()
	for end := time.Now().Add(testTimeout); runtime.NumGoroutine() > want; runtime.Gosched() {
		if time.Now().After(end) {
			tb.Fatalf("got %d goroutines, want %d", runtime.NumGoroutine(), want)
		}
	}
}
