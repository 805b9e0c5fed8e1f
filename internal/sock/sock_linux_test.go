// SPDX-License-Identifier: Apache-2.0

package sock

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/must"
)

// pair returns a Socket, and the descriptor that is connected to it.
func pair(tb testing.TB) (s *Socket, peer int) {
	tb.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s, err = New(fds[0], must.Get(NewSet()))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		unix.Close(fds[1])
	})
	return s, fds[1]
}

// receive returns a function for Read, which counts how often it is called.
func receive(calls *int, b []byte) func(uintptr) bool {
	return func(fd uintptr) bool {
		*calls++
		_, _, err := unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
		return err == nil
	}
}

// send returns a function for Write.
func send(b []byte) func(uintptr) bool {
	return func(fd uintptr) bool { return unix.Send(int(fd), b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL) == nil }
}

// fill writes until there is no room.
func fill(tb testing.TB, s *Socket) {
	tb.Helper()
	for full, try := false, send(make([]byte, 1000)); !full; {
		if err := s.Control(func(fd uintptr) { full = !try(fd) }); err != nil {
			tb.Fatal(err)
		}
	}
}

// Who waits for data is not woken by room, which there is each time that the peer has read.
// Mutation: the set in waits for EPOLLOUT, too.
func TestReadIsWokenByDataAlone(t *testing.T) {
	s, peer := pair(t)
	b, buf := []byte("a message"), make([]byte, 100)
	const rounds = 200
	calls := 0
	var reader sync.WaitGroup
	for range rounds {
		reader.Go(func() {
			if err := s.Read(receive(&calls, buf)); err != nil {
				t.Error(err)
			}
		})
		for range 20 {
			if err := s.Write(send(b)); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Read(peer, make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Send(peer, b, 0); err != nil {
			t.Fatal(err)
		}
		reader.Wait()
	}
	if calls > 2*rounds {
		t.Errorf("looked %d times for %d messages", calls, rounds)
	}
}

// Write waits for room, with a set and where there is no descriptor for one. Mutations: the set waits for nothing;
// Write returns when room fails.
func TestWriteWaitsForRoom(t *testing.T) {
	for _, short := range []bool{false, true} {
		s, peer := pair(t)
		for range 3 {
			fill(t, s)
			undo := func() {}
			if short {
				undo = noDescriptors(t)
			}
			written := make(chan error, 1)
			tries, last := new(atomic.Int32), send([]byte("last"))
			go func() { written <- s.Write(counted(tries, last)) }()
			await(func() bool { return tries.Load() > 0 && (short || s.waits()) }) // else it would find room
			for got := ""; got != "last"; {                                        // blocks until it has come
				b := make([]byte, 1000)
				n, err := unix.Read(peer, b)
				if err != nil {
					t.Fatal(err)
				}
				got = string(b[:n])
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
			undo()
		}
		if short && s.waits() {
			t.Error("a set was made")
		}
	}
}

// No room is missed that comes while a call is about to wait: writes that meet a full socket again and again
// all end. Mutation: the set has events once (EPOLLONESHOT) and is armed again before the wait, without a look at the
// socket, which missed some in two of three runs of this at once.
func TestNoRoomIsMissed(t *testing.T) {
	const messages = 300_000
	s, peer := pair(t)
	s.SetWriteDeadline(time.Now().Add(5 * time.Minute))
	if err := s.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 1) }); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for b := make([]byte, 100); ; {
			if n, err := unix.Read(peer, b); n <= 0 || err != nil {
				return
			}
		}
	})
	for i, f := 0, send([]byte("a message")); i < messages; i++ {
		if err := s.Write(f); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	s.Close()
	reader.Wait()
}

// counted counts the calls of a function.
func counted(calls *atomic.Int32, f func(uintptr) bool) func(uintptr) bool {
	return func(fd uintptr) bool {
		done := f(fd)
		calls.Add(1)
		return done
	}
}

// await waits until something is so.
func await(cond func() bool) {
	for !cond() {
		runtime.Gosched()
	}
}

// waits reports whether a call has waited for room with a set.
func (s *Socket) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.f != nil
}

// noDescriptors has this process open no descriptor until undo is called.
func noDescriptors(t *testing.T) (undo func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	set := func(r unix.Rlimit) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
			t.Error(err)
		}
	}
	set(unix.Rlimit{Cur: 0, Max: was.Max})
	return func() { set(was) }
}

// Deadlines and Close end calls that wait, and those that come later. Mutations: room does not set the deadline of
// a new set; SetWriteDeadline sets none of one that is there; late is never so; Close does not close out.
func TestCallsEnd(t *testing.T) {
	var tries atomic.Int32
	forms := map[string]func(s *Socket) error{
		"read":  func(s *Socket) error { return s.Read(counted(&tries, receive(new(int), make([]byte, 10)))) },
		"write": func(s *Socket) error { return s.Write(counted(&tries, send(make([]byte, 1000)))) },
	}
	roomy, _ := pair(t)
	roomy.SetWriteDeadline(time.Unix(1, 0))
	if err := roomy.Write(send([]byte("there is room"))); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("with room: %v, want a deadline", err)
	}
	for name, call := range forms {
		s, _ := pair(t)
		fill(t, s)
		past, soon := time.Unix(1, 0), func() time.Time { return time.Now().Add(10 * time.Millisecond) }
		deadline := func(at time.Time) {
			if err := errors.Join(s.SetReadDeadline(at), s.SetWriteDeadline(at)); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []time.Time{past, soon(), soon(), past} {
			deadline(at)
			if err := call(s); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v, want a deadline", name, err)
			}
		}
		deadline(time.Time{})
		ended := make(chan error, 1)
		begin := func() {
			tries.Store(0)
			go func() { ended <- call(s) }()
			await(func() bool { return tries.Load() > 0 })
		}
		begin()
		deadline(past)
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s, while it waits: %v, want a deadline", name, err)
		}
		deadline(time.Time{})
		begin()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, err := range []error{<-ended, call(s), s.Close(), s.CloseRead(), s.SetReadDeadline(past), s.SetWriteDeadline(past), s.Control(func(uintptr) { t.Error("called") })} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s, closed: %v, want net.ErrClosed", name, err)
			}
		}
	}
}

// A Socket that is closed leaves no descriptor, nor does New when it fails. Mutation: New does not close the set.
func TestNoDescriptorStays(t *testing.T) {
	count := func() int { return len(must.Get(os.ReadDir("/proc/self/fd"))) }
	before := count()
	for range 3 {
		s, peer := pair(t)
		fill(t, s)
		if err := s.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(send(make([]byte, 1000))); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		s.Close()
		unix.Close(peer)
		file := must.Get(os.Open("/proc/self/status")) // a file is always ready, and in no set
		fd := must.Get(unix.Dup(int(file.Fd())))
		file.Close()
		if s, err := New(fd, must.Get(NewSet())); !errors.Is(err, unix.EPERM) {
			t.Errorf("%v, %v, want EPERM", s, err)
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// Calls allocate nothing.
func TestCallsAllocateNothing(t *testing.T) {
	s, peer := pair(t)
	b, buf := []byte("a message"), make([]byte, 100)
	out := send(b)
	in := func(fd uintptr) bool { // unix.Recvfrom allocates
		_, err := unix.Read(int(fd), buf)
		return err == nil
	}
	if n := testing.AllocsPerRun(1000, func() {
		if s.Write(out) != nil || unix.Send(peer, b, 0) != nil || s.Read(in) != nil {
			t.Fatal("a call fails")
		}
		if _, err := unix.Read(peer, buf); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
