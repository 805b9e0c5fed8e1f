// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// shortest is the length of the shortest frame TIPC sends, in bytes.
const shortest = frame.EthernetLen + frame.ShortLen

// A station is a device with what a node gives it. All but close belongs to one
// goroutine at a time.
type station struct {
	t      *testing.T
	dev    netdev.Device
	arena  *netdev.Arena
	waker  *waker
	batch  [64]*netdev.Buffer
	sender *frame.MAC // whom all that arrives is from, where there are no Ethernet headers; or nil
}

// newStation attaches dev and, when the test is over, closes it and looks
// whether all chunks are back.
func newStation(t *testing.T, dev netdev.Device) *station {
	t.Helper()
	// Room for a frame one byte longer than the network takes.
	c := netdev.ArenaConfig{}
	if longest := dev.MTU() + frame.EthernetLen + 1; longest > netdev.SmallChunk-netdev.Headroom {
		c.Jumbo, c.JumboSize = 512, longest
	}
	b, err := newWaker()
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t: t, dev: dev, arena: netdev.NewArena(c), waker: b}
	t.Cleanup(func() {
		dev.Close()
		b.close()
		if t.Failed() {
			return // the test may have left Buffers behind
		}
		if err := s.until(func() bool { return s.arena.Free() == s.arena.Total() }); err != nil {
			t.Errorf("%v: closed: got %d of %d chunks back", dev.Name(), s.arena.Free(), s.arena.Total())
		}
	})
	if err := dev.Attach(s.arena, b.ring); err != nil {
		t.Fatalf("Attach: %v", err)
	}
	return s
}

// longest is the length of the longest frame the network takes, in bytes.
func (s *station) longest() int { return s.dev.MTU() + frame.EthernetLen }

// until turns the processor over to others until done; an error when the timeout is
// at its end.
func (s *station) until(done func() bool) error {
	for end := time.Now().Add(timeout); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			return errTimeout
		}
	}
	return nil
}

// sleep returns when frames may have arrived.
func (s *station) sleep() error { return s.waker.sleep(s.dev.FD()) }

// offer transmits bufs, again and again while the device is full, and says how
// many it took.
func (s *station) offer(bufs []*netdev.Buffer) (n int, err error) {
	late := s.until(func() bool {
		var k int
		k, err = s.dev.Transmit(bufs[n:])
		if k < 0 || k > len(bufs)-n {
			err = fmt.Errorf("got %d from Transmit of %d frames", k, len(bufs)-n)
			return true
		}
		n += k
		return err != nil || n == len(bufs)
	})
	return n, errors.Join(err, late)
}

// send transmits bufs and lets go of them.
func (s *station) send(bufs ...*netdev.Buffer) {
	s.t.Helper()
	if n, err := s.offer(bufs); err != nil {
		s.t.Fatalf("Transmit of %d frames: got %d, %v", len(bufs), n, err)
	}
	release(bufs)
}

// settle calls the device until it holds none of bufs.
func (s *station) settle(bufs []*netdev.Buffer) {
	s.t.Helper()
	err := s.until(func() bool {
		for _, b := range bufs {
			if b.Lent() {
				if _, err := s.dev.Transmit(nil); err != nil {
					s.t.Fatalf("Transmit of nothing: %v", err)
				}
				return false
			}
		}
		return true
	})
	if err != nil {
		s.t.Fatal("a frame is still lent, many calls after Transmit took it")
	}
}

// receive sleeps until frames arrive and returns them, at most max of them,
// which is at most 64.
func (s *station) receive(max int) ([]*netdev.Buffer, error) {
	for {
		n, err := s.dev.Receive(s.batch[:max])
		switch {
		case n < 0 || n > max:
			return nil, fmt.Errorf("got %d from Receive into %d Buffers", n, max)
		case n > 0 && err != nil:
			return nil, fmt.Errorf("got %d frames from Receive, with the error %w", n, err)
		case n > 0 || err != nil:
			return s.batch[:n], err
		}
		if err := s.sleep(); err != nil {
			return nil, err
		}
	}
}

// expect receives frames in batches of at most max until it has as many as want,
// which they must be, in this order.
func (s *station) expect(max int, want ...note) {
	s.t.Helper()
	for len(want) > 0 {
		bufs, err := s.receive(min(max, len(want)))
		if err != nil {
			s.t.Fatalf("%d frames are missing, the first of %v: %v", len(want), want[0], err)
		}
		for i, b := range bufs {
			n := want[i]
			if s.sender != nil {
				n.dst, n.src = s.dev.Addr(), *s.sender
			}
			if err := n.compare(b.Bytes()); err != nil {
				s.t.Fatal(err)
			}
			s.endHold(b)
		}
		want = want[len(bufs):]
	}
}

// endHold lets go of a Buffer received, of which nobody else may have a hold.
func (s *station) endHold(b *netdev.Buffer) {
	s.t.Helper()
	if b.Lent() {
		s.t.Error("a Buffer received is lent")
	}
	free := s.arena.Free()
	b.Release()
	if got := s.arena.Free(); got != free+1 {
		s.t.Errorf("a Buffer received and released: got %d chunks more, want 1", got-free)
	}
}

func release(bufs []*netdev.Buffer) {
	for _, b := range bufs {
		b.Release()
	}
}

// isClosed reports whether err is what a closed device says.
func isClosed(err error) bool { return errors.Is(err, net.ErrClosed) }
