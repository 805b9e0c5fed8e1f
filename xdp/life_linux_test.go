// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// A life is traffic between two endpoints that goes on while their interfaces change.
type life struct {
	*testing.T
	bed            *bed
	a, b           *endpoint
	sent, received int
}

// turn sends a frame as long as both ends allow, and receives what there is.
func (l *life) turn() {
	l.Helper()
	size := min(l.a.MTU(), l.b.MTU()) + frame.EthernetLen
	// The device may hold all chunks, of frames that the wire has not let go of.
	if f := l.a.arena.Get(size, netdev.Control); f != nil && size > frame.EthernetLen {
		copy(f.Extend(size), raw(l.b.Addr(), l.a.Addr(), size, 0))
		n, err := l.a.Transmit([]*netdev.Buffer{f})
		f.Release()
		// What was true when MTU was asked need not be so any more, at either end: the
		// kernel has no room for frames that the other end does not take.
		if err != nil && !errors.As(err, new(*xdp.InterfaceError)) && !errors.Is(err, unix.EMSGSIZE) && !errors.Is(err, unix.ENOBUFS) {
			l.Fatalf("Transmit of %d bytes: %v", size, err)
		}
		l.sent += n
	} else if f != nil {
		f.Release()
	}
	for _, s := range []*endpoint{l.a, l.b} {
		var bufs [16]*netdev.Buffer
		n, err := s.Receive(bufs[:])
		if err != nil && !errors.As(err, new(*xdp.InterfaceError)) {
			l.Fatalf("%s: Receive: %v", s.Name(), err)
		}
		for _, f := range bufs[:n] {
			f.Release()
		}
		l.received += n
	}
}

// until lets the traffic go on while do runs, and until the MTUs are a and b.
func (l *life) until(what string, a, b int, do func()) {
	l.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	for end := time.Now().Add(testTimeout); ; l.turn() {
		select {
		case <-done:
			if l.a.MTU() == a && l.b.MTU() == b {
				return
			}
		default:
		}
		if time.Now().After(end) {
			l.Fatalf("%s: MTUs %d and %d, want %d and %d", what, l.a.MTU(), l.b.MTU(), a, b)
		}
	}
}

// works wants frames of the full length to arrive.
func (l *life) works(what string) {
	l.Helper()
	for end, begin := time.Now().Add(testTimeout), l.received; l.received < begin+10; l.turn() {
		if time.Now().After(end) {
			l.Fatalf("%s: no frames arrive", what)
		}
	}
}

func (l *life) ip(end int, args ...string) {
	ns, name := l.bed.a, nameA
	if end == 1 {
		ns, name = l.bed.b, nameB
	}
	ns.Run("ip", append([]string{"link", "set", "dev", name}, args...)...)
}

// Proves: device.changes
func TestInterfaceChangesUnderTraffic(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		const largest = 9000
		d := newBed(t, 1500)
		goroutines, fds := runtime.NumGoroutine(), sockets(t)
		l := &life{T: t, bed: d}
		l.a, l.b = attachEndpoint(t, d.a, nameA, drv.open, largest), attachEndpoint(t, d.b, nameB, drv.open, largest)
		takes := l.a.arena.Largest() - frame.EthernetLen
		l.works("at first")
		for _, c := range []struct {
			what string
			a, b int // the MTUs then
			do   func()
		}{
			{"raised at both", 9000, 9000, func() { l.ip(0, "mtu", "9000"); l.ip(1, "mtu", "9000") }},
			{"raised beyond the arena's chunks", takes, takes, func() { l.ip(0, "mtu", "20000"); l.ip(1, "mtu", "20000") }},
			{"lowered at both", 1000, 1000, func() { l.ip(0, "mtu", "1000"); l.ip(1, "mtu", "1000") }},
			{"one end down", 0, 0, func() { l.ip(0, "down") }},
			{"up again", 1000, 1000, func() { l.ip(0, "up") }},
			{"the other end down", 0, 0, func() { l.ip(1, "down") }},
			{"up with another MTU", 1000, 1400, func() { l.ip(1, "mtu", "1400"); l.ip(1, "up") }},
			{"below what TIPC needs", 1000, 0, func() { l.ip(1, "mtu", "90") }},
			{"enough again", 1000, 100, func() { l.ip(1, "mtu", "100") }},
			{"raised at one end", 9000, 100, func() { l.ip(0, "mtu", "9000") }},
		} {
			l.until(c.what, min(c.a, drv.most), min(c.b, drv.most), c.do)
			if c.a != 0 && c.b != 0 {
				l.works(c.what)
			}
		}
		select { // asleep, its owner would have been told
		case <-l.a.wake:
		default:
			t.Error("wake was never called")
		}
		l.until("removed", 0, 0, func() { d.a.Run("ip", "link", "del", "dev", nameA) })
		for _, s := range []*endpoint{l.a, l.b} { // with one end of a veth goes the other
			for _, err := s.Receive(make([]*netdev.Buffer, 1)); !errors.Is(err, xdp.ErrRemoved); _, err = s.Receive(nil) {
				if err != nil && !errors.Is(err, xdp.ErrDown) {
					t.Fatalf("%s: got %v, want %v", s.Name(), err, xdp.ErrRemoved)
				}
			}
			wantTransmit(t, s, xdp.ErrRemoved)
		}
		if _, out := l.a.Dropped(); l.received > l.sent || out == 0 {
			t.Errorf("sent %d, received %d, refused %d: want some refused, and no more received than sent", l.sent, l.received, out)
		}
		l.a.Close()
		l.b.Close()
		wantReceive(t, l.a, net.ErrClosed)
		wantReceive(t, l.b, net.ErrClosed)
		waitGoroutines(t, goroutines)
		if got := sockets(t); got != fds {
			t.Errorf("got %d sockets, want %d", got, fds)
		}
	})
}

// A frame longer than the present MTU is refused, also when it was built for a
// larger one.
func TestFrameBuiltBeforeTheMTUFell(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, 1500)
		s := attachEndpoint(t, d.a, nameA, drv.open, 1500)
		d.a.Run("ip", "link", "set", "dev", nameA, "mtu", "1000")
		s.awaitMTU(t, 1000)
		f := s.arena.Get(1514, netdev.Control)
		copy(f.Extend(1014), raw(frame.BroadcastMAC, s.Addr(), 1014, 0))
		if n, err := s.Transmit([]*netdev.Buffer{f}); n != 1 || err != nil {
			t.Errorf("1014 bytes: got %d, %v, want 1", n, err)
		}
		f.Extend(1)
		var which *xdp.FrameError
		if n, err := s.Transmit([]*netdev.Buffer{f}); n != 0 || !errors.As(err, &which) || which.Len != 1015 || !errors.Is(err, unix.EMSGSIZE) {
			t.Errorf("1015 bytes: got %d, %v, want a FrameError about them", n, err)
		}
		f.Release()
	})
}

// Opened and closed again and again, in every state.
//
// Proves: device.changes
func TestOpenAndCloseAHundredTimes(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver) {
		d := newBed(t, 1500)
		w := openWire(t, d.b, nameB)
		goroutines, fds := runtime.NumGoroutine(), sockets(t)
		arena := newArena(1500)
		for i := range 100 {
			var dev device
			var err error
			d.a.Do(func() { dev, err = drv.open(nameA) })
			if err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			if i%3 > 0 {
				if err := dev.Attach(arena, nil); err != nil {
					t.Fatalf("round %d: %v", i, err)
				}
			}
			w.send(raw(frame.BroadcastMAC, frame.MAC{2}, 64, 0))
			if i%3 > 1 {
				await(t, dev, 1)
			}
			dev.Close()
			if i%2 > 0 { // the others leave it to the garbage collector
				wantReceive(t, dev, net.ErrClosed)
			}
			if got, want := arena.Free(), arena.Total(); got != want {
				t.Fatalf("round %d: %d chunks of %d are free", i, got, want)
			}
		}
		waitGoroutines(t, goroutines)
		if got := sockets(t); got != fds {
			t.Errorf("got %d sockets, want %d", got, fds)
		}
	})
}
