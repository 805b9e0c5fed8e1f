// SPDX-License-Identifier: Apache-2.0

package device

import (
	"sync"
	"testing"
)

// closed: a closed device says so, as often as it is asked.
func closed(t *testing.T, a, b *station) {
	notes, bufs := a.some(b, 0, 2)
	a.send(bufs...)
	b.expect(2, notes...)
	_, bufs = a.some(b, 2, 1)
	defer release(bufs)
	if err := a.dev.Close(); err != nil {
		t.Errorf("Close: got %v, want nil", err)
	}
	for range 3 {
		if n, err := a.dev.Receive(a.batch[:]); n != 0 || !isClosed(err) {
			t.Errorf("Receive: got %v, %v, want 0, net.ErrClosed", n, err)
		}
		if n, err := a.dev.Transmit(bufs); n != 0 || !isClosed(err) {
			t.Errorf("Transmit: got %v, %v, want 0, net.ErrClosed", n, err)
		}
		a.dev.Dropped()
		a.dev.Close()
	}
}

// closedWithFrames: a device closed with frames on their way in and out gives
// back what it holds; newStation looks.
func closedWithFrames(t *testing.T, a, b *station) {
	_, bufs := a.some(b, 0, 64)
	a.send(bufs...)
	_, bufs = b.some(a, 0, 64)
	b.send(bufs...)
	in, err := b.receive(8)
	if err != nil {
		t.Fatal(err)
	}
	a.dev.Close()
	b.dev.Close()
	for i, x := range in { // they are ours still
		if got := numberOf(x.Bytes()); got != uint32(i) {
			t.Errorf("after Close: got frame %d, want %d", got, i)
		}
	}
	release(in)
}

// closedPeer: a station does not notice that its peer has gone.
func closedPeer(t *testing.T, a, b *station) {
	b.dev.Close()
	for range 4 {
		_, bufs := a.some(b, 0, 16)
		a.send(bufs...)
	}
	if n, err := a.dev.Receive(a.batch[:]); n != 0 || err != nil {
		t.Errorf("Receive: got %v, %v, want 0, nil", n, err)
	}
}

// closeWakes: whoever sleeps when the device is closed is woken, to be told.
func closeWakes(t *testing.T, a, b *station) {
	asleep := make(chan struct{})
	var owner sync.WaitGroup
	owner.Go(func() {
		for first := true; ; first = false {
			n, err := a.dev.Receive(a.batch[:])
			if err != nil {
				if !isClosed(err) {
					t.Errorf("Receive: got %v, want net.ErrClosed", err)
				}
				return
			}
			release(a.batch[:n])
			if first {
				close(asleep)
			}
			if err := a.sleep(); err != nil {
				t.Errorf("closed while it slept: %v", err)
				return
			}
		}
	})
	<-asleep
	a.dev.Close()
	owner.Wait()
}

// closeMeanwhile: Close may come from anywhere, at any time, more than once.
func closeMeanwhile(t *testing.T, a, b *station) {
	var all sync.WaitGroup
	for _, way := range [][2]*station{{a, b}, {b, a}} {
		s, peer := way[0], way[1]
		_, bufs := s.some(peer, 0, 4)
		busy := make(chan struct{})
		all.Go(func() {
			defer release(bufs)
			rounds := 0
			err := s.until(func() bool {
				n, err := s.dev.Receive(s.batch[:])
				release(s.batch[:n])
				if err == nil {
					_, err = s.dev.Transmit(bufs)
				}
				if err != nil && !isClosed(err) {
					t.Errorf("got %v, want net.ErrClosed", err)
				}
				if rounds++; rounds == 100 {
					close(busy)
				}
				return err != nil
			})
			if err != nil {
				t.Error("the device does not say that it is closed")
			}
			if rounds < 100 {
				close(busy)
			}
		})
		for range 2 {
			all.Go(func() {
				<-busy
				s.dev.Close()
			})
		}
	}
	all.Wait()
}
