// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// testTimeout is how long anything may take that must happen. It only bounds a
// failing test.
const testTimeout = 2 * time.Minute

var ports atomic.Uint32

// local returns addresses on the loopback interface that nobody else has: every
// process has some of 127.0.0.0/8 to itself, as long as it lives, and each call a
// port of its own.
func local(n int) (all []netip.AddrPort) {
	pid, port := os.Getpid(), uint16(20000+ports.Add(1))
	for i := range n {
		ip := [4]byte{127, 128 | byte(pid>>14)&63, byte(pid >> 6), byte(pid<<2)&^3 + byte(i)}
		all = append(all, netip.AddrPortFrom(netip.AddrFrom4(ip), port))
	}
	return all
}

// An end is a device with an arena of its own.
type end struct {
	*Device
	t     testing.TB
	arena *netdev.Arena
	bufs  [64]*netdev.Buffer
}

func open(t testing.TB, c Config) *end {
	t.Helper()
	d, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	a := netdev.ArenaConfig{Small: 512}
	if d.room() > netdev.SmallChunk-netdev.Headroom {
		a.Jumbo, a.JumboSize = 256, d.room()
	}
	e := &end{Device: d, t: t, arena: netdev.NewArena(a)}
	if err := d.Attach(e.arena, func() {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if free, all := e.arena.Free(), e.arena.Total(); free != all && !t.Failed() {
			t.Errorf("%v: %d of %d chunks came back", c.Local, free, all)
		}
	})
	return e
}

// pair opens two ends with each other as remote.
func pair(t testing.TB, c Config) (a, b *end) {
	at := local(2)
	x, y := c, c
	x.Local, x.Remotes = at[0], at[1:]
	y.Local, y.Remotes = at[1], at[:1]
	return open(t, x), open(t, y)
}

// frames makes one frame to a station for each of data.
func (e *end) frames(to frame.MAC, data ...[]byte) (all []*netdev.Buffer) {
	for _, d := range data {
		b := e.arena.Get(frame.EthernetLen+len(d), netdev.Data)
		frame.PutEthernet(b.Extend(frame.EthernetLen), to, e.Addr())
		copy(b.Extend(len(d)), d)
		all = append(all, b)
	}
	return all
}

// send offers frames until all are taken, and lets go of them.
func (e *end) send(all ...*netdev.Buffer) {
	e.t.Helper()
	left := all
	for limit := time.Now().Add(testTimeout); len(left) > 0; {
		n, err := e.Transmit(left)
		if err != nil || time.Now().After(limit) {
			e.t.Fatalf("Transmit: %v; %d frames left", err, len(left))
		}
		left = left[n:]
	}
	for _, b := range all {
		b.Release()
	}
}

// say sends data to a station.
func (e *end) say(to frame.MAC, data ...string) {
	e.t.Helper()
	for _, d := range data {
		e.send(e.frames(to, []byte(d))...)
	}
}

var errNothing = errors.New("nothing arrives")

// wait returns when FD is readable.
func (e *end) wait() error {
	fds := []unix.PollFd{{Fd: int32(e.FD()), Events: unix.POLLIN}}
	for {
		switch n, err := unix.Poll(fds, int(testTimeout.Milliseconds())); {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return errNothing
		default:
			return nil
		}
	}
}

// A packet is a frame that was received.
type packet struct {
	src  frame.MAC
	data string
}

// next receives frames until there are n.
func (e *end) next(n int) (all []packet) {
	e.t.Helper()
	for len(all) < n {
		k, err := e.Receive(e.bufs[:min(n-len(all), len(e.bufs))])
		if err != nil {
			e.t.Fatal(err)
		}
		for _, b := range e.bufs[:k] {
			eth, data, err := frame.ParseEthernet(b.Bytes())
			if err != nil || eth.Dst() != e.Addr() {
				e.t.Fatalf("got a frame to %v, %v; want it to %v", eth.Dst(), err, e.Addr())
			}
			all = append(all, packet{eth.Src(), string(data)})
			b.Release()
		}
		if k == 0 {
			if err := e.wait(); err != nil {
				e.t.Fatalf("after %d of %d frames: %v", len(all), n, err)
			}
		}
	}
	return all
}

// want receives as many frames as there are data: they must be from a station and say these.
// In which order they come is the system's affair, whose processors each have a queue of what
// was sent there.
func (e *end) want(from frame.MAC, data ...string) {
	e.t.Helper()
	got, want := e.next(len(data)), slices.Sorted(slices.Values(data))
	slices.SortFunc(got, func(a, b packet) int { return strings.Compare(a.data, b.data) })
	for i, p := range got {
		if p.src != from || p.data != want[i] {
			e.t.Fatalf("got %d bytes from %v, %.20q; want %d from %v, %.20q", len(p.data), p.src, p.data, len(want[i]), from, want[i])
		}
	}
}

// until receives until a condition holds, and no frames meanwhile.
func (e *end) until(what string, holds func() bool) {
	e.t.Helper()
	for limit := time.Now().Add(testTimeout); !holds(); runtime.Gosched() {
		if k, err := e.Receive(e.bufs[:]); k > 0 || err != nil || time.Now().After(limit) {
			e.t.Fatalf("%s: got %d frames, %v", what, k, err)
		}
	}
}

// A plain is an ordinary socket.
type plain struct {
	t    testing.TB
	conn *net.UDPConn
}

func dial(t testing.TB, from netip.AddrPort, to netip.AddrPort) plain {
	t.Helper()
	c, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(from), net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return plain{t, c}
}

func (p plain) say(data string) {
	p.t.Helper()
	if _, err := p.conn.Write([]byte(data)); err != nil {
		p.t.Fatal(err)
	}
}

func (p plain) addr() netip.AddrPort { return p.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// descriptors counts those of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
