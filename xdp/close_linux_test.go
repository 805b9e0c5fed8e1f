// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// sockets counts the descriptors of the process that are sockets. (Tombstones of
// other tests, which are none, may vanish at any time.)
func sockets(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestClosed(t *testing.T) {
	d := newBed(t, 1500)
	before := sockets(t)
	a, _ := open(t, d.a, nameA, nil)
	fd := a.FD()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("Close: got %v, want nil", err)
		}
	}
	// Nobody has been told yet: the number is still taken, and polls readable.
	if got := a.FD(); got != fd {
		t.Errorf("FD before anybody was told: got %d, want %d", got, fd)
	}
	if got := poll(t, fd); got&unix.POLLIN == 0 {
		t.Errorf("poll: got %#x, want readable", got)
	}
	wantReceive(t, a, net.ErrClosed)
	wantTransmit(t, a, net.ErrClosed)
	if err := a.Attach(newArena(1500), nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Attach: got %v, want %v", err, net.ErrClosed)
	}
	if got := a.FD(); got != -1 {
		t.Errorf("FD: got %d, want -1", got)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("the number: got %v, want %v", err, unix.EBADF)
	}
	if got := sockets(t); got != before {
		t.Errorf("got %d sockets, want %d", got, before)
	}
}

func TestClosedBeforeAttach(t *testing.T) {
	d := newBed(t, 1500)
	before := sockets(t)
	var a *xdp.Packet
	var err error
	d.a.Do(func() { a, err = patient.OpenPacket(nameA, nil) })
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if got := sockets(t); got != before {
		t.Errorf("got %d sockets, want %d", got, before)
	}
	wantReceive(t, a, net.ErrClosed)
}

// An engine sleeps in poll on the device and on an event that wake rings, or
// works, while someone closes the device and others open files.
func TestCloseBesideTheEngine(t *testing.T) {
	d := newBed(t, 1500)
	peer, _ := open(t, d.b, nameB, nil)
	for round := range 60 {
		wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		var p *xdp.Packet
		d.a.Do(func() { p, err = patient.OpenPacket(nameA, nil) })
		if err != nil {
			t.Fatal(err)
		}
		arena := newArena(1500)
		if err := p.Attach(arena, func() { unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }); err != nil {
			t.Fatal(err)
		}
		begun := make(chan struct{})
		sleeps, busy := round%2 == 0, round%7+1
		if sleeps {
			busy = -1
		}
		var wait sync.WaitGroup
		wait.Go(func() { // the engine
			out := buffers(t, raw(peer.Addr(), p.Addr(), 64, 0))
			in := make([]*netdev.Buffer, 4)
			for turn := 0; ; turn++ {
				if turn == 0 && sleeps || turn == busy {
					close(begun)
				}
				if sleeps {
					both := []unix.PollFd{{Fd: int32(p.FD()), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
					if n, err := unix.Poll(both, int(testTimeout.Milliseconds())); n == 0 {
						t.Errorf("round %d: nothing ended the poll", round)
					} else if err != nil && err != unix.EINTR || both[0].Revents&unix.POLLNVAL != 0 {
						t.Errorf("round %d: poll: %v, %#x", round, err, both[0].Revents)
					}
				}
				n, err := p.Receive(in)
				for _, b := range in[:n] {
					b.Release()
				}
				if err == nil {
					_, err = p.Transmit(out)
				}
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		})
		transmit(t, peer, raw(p.Addr(), peer.Addr(), 64, 0))
		<-begun
		for range 3 {
			wait.Go(func() { p.Close() })
		}
		wait.Go(func() { // takes whatever number becomes free; nothing may happen to it
			for range 20 {
				var pipe [2]int
				if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
					t.Error(err)
					return
				}
				unix.Write(pipe[1], []byte("mine"))
				var got [4]byte
				if n, err := unix.Read(pipe[0], got[:]); n != 4 || err != nil {
					t.Errorf("round %d: a pipe of ours: got %d, %v, want 4", round, n, err)
				}
				for _, fd := range pipe {
					if err := unix.Close(fd); err != nil {
						t.Errorf("round %d: a pipe of ours: %v", round, err)
					}
				}
			}
		})
		wait.Wait()
		if got, want := arena.Free(), arena.Total(); got != want {
			t.Fatalf("round %d: %d chunks of %d are free", round, got, want)
		}
		unix.Close(wake)
		for n, in := 1, make([]*netdev.Buffer, 64); n > 0; { // what the peer was sent
			if n, err = peer.Receive(in); err != nil {
				t.Fatal(err)
			}
			for _, b := range in[:n] {
				b.Release()
			}
		}
	}
}
