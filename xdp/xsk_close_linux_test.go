// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// descriptors counts the descriptors of the process. Tombstones of other tests are
// among them, and may vanish.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Proves: device.leaks
func TestXSKOpenAndCloseLeaveNothing(t *testing.T) {
	d := newBed(t, 1500)
	b := attachXSK(t, d.b, nameB, nil, newArena(1500))
	arena := newArena(1500)
	cycle := func(i int) {
		x := openXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: modes[i%2]})
		if i%5 == 4 {
			x.Close() // before Attach
			return
		}
		if err := x.Attach(arena, nil); err != nil {
			t.Fatal(err)
		}
		offer(t, x, raw(b.Addr(), x.Addr(), 64, uint32(i)))
		receiveXSK(t, b, 1)
		for range 20 {
			offer(t, b, raw(x.Addr(), b.Addr(), 64, uint32(i)))
		}
		receiveXSK(t, x, i%20)
		for range 2 {
			if err := x.Close(); err != nil {
				t.Errorf("Close: got %v", err)
			}
		}
		if got, want := arena.Free(), arena.Total(); got != want {
			t.Fatalf("cycle %d: got %d chunks free, want %d", i, got, want)
		}
		if _, err := x.Receive(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Receive: got %v, want %v", err, net.ErrClosed)
		}
	}
	cycle(0)
	fds, routines := descriptors(t), runtime.NumGoroutine()
	cycles := 100
	if testing.Short() {
		cycles = 20
	}
	for i := range cycles {
		cycle(i)
	}
	if got := descriptors(t); got > fds {
		t.Errorf("after %d cycles: got %d descriptors, want %d", cycles, got, fds)
	}
	waitGoroutines(t, routines)
	vanishes(t, d.a, nameA)
}

// An engine sleeps on the device while somebody closes it: the chunks are back
// when Close returns, although the sleeper had the socket.
func TestXSKCloseBesideASleeper(t *testing.T) {
	d := newBed(t, 1500)
	peer := attachXSK(t, d.b, nameB, nil, newArena(1500))
	for round := range 20 {
		wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		x := openXSK(t, d.a, nameA, nil)
		arena := newArena(1500)
		if err := x.Attach(arena, func() { unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }); err != nil {
			t.Fatal(err)
		}
		var engine sync.WaitGroup
		asleep := make(chan struct{})
		engine.Go(func() {
			in := make([]*netdev.Buffer, 4)
			for turn := 0; ; turn++ {
				if turn == 1 {
					close(asleep)
				}
				both := []unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
				if n, err := unix.Poll(both, int(testTimeout.Milliseconds())); n == 0 || both[0].Revents&unix.POLLNVAL != 0 {
					t.Errorf("round %d: poll: %d, %v, %#x", round, n, err, both[0].Revents)
				}
				n, err := x.Receive(in)
				for _, b := range in[:n] {
					b.Release()
				}
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			}
		})
		offer(t, peer, raw(x.Addr(), peer.Addr(), 64, 1))
		<-asleep
		x.Close() // wakes the engine, whose poll reports an error otherwise
		if got, want := arena.Free(), arena.Total(); got != want {
			t.Errorf("round %d: %d chunks of %d are free", round, got, want)
		}
		engine.Wait()
		unix.Close(wake)
	}
}

// As long as the kernel has the socket, and may write into its chunks, none is
// given back: here a poll that nobody wakes has it.
//
// Proves: memory.lent
func TestXSKChunksWaitForTheKernel(t *testing.T) {
	d := newBed(t, 1500)
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(wake)
	x := openXSK(t, d.a, nameA, nil)
	arena := newArena(1500)
	if err := x.Attach(arena, nil); err != nil {
		t.Fatal(err)
	}
	both := []unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	thread, woken, closed := make(chan int, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(woken)
		runtime.LockOSThread()
		thread <- unix.Gettid()
		most := unix.NsecToTimespec(testTimeout.Nanoseconds())
		unix.Ppoll(both, &most, nil)
	}()
	inKernel(t, <-thread, unix.SYS_PPOLL)
	go func() {
		x.Close()
		close(closed)
	}()
	until(t, "the device being closed", func() bool {
		_, err := x.Receive(nil)
		return err != nil
	})
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); runtime.Gosched() {
		if arena.Free() == arena.Total() {
			t.Fatal("chunks are back while the kernel has the socket")
		}
	}
	unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-woken
	<-closed
	if got, want := arena.Free(), arena.Total(); got != want {
		t.Errorf("closed: got %d chunks free, want %d", got, want)
	}
}

// inKernel waits until a thread of this process sleeps in a system call.
func inKernel(t *testing.T, thread, call int) {
	t.Helper()
	until(t, "a thread that sleeps", func() bool {
		said, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", thread)) // "running" while it does not sleep
		if err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(string(said), fmt.Sprint(call, " "))
	})
}
