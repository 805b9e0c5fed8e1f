// SPDX-License-Identifier: Apache-2.0

package shortage

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/tier"
)

// A Thread is one whose system calls can fail. It ends with the test.
type Thread struct {
	orders *orders
	do     chan func()
}

// Start starts a thread. It skips the test where the kernel asks nobody about calls.
func Start(tb testing.TB) *Thread {
	tb.Helper()
	t, end, err := start()
	if err != nil {
		tier.Missing(tb, "no system calls that fail:", err)
	}
	tb.Cleanup(end)
	return t
}

func start() (t *Thread, end func(), err error) {
	var undo []func()
	end = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	memory, err := unix.MemfdCreate("shortage", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	shared := os.NewFile(uintptr(memory), "shortage")
	defer shared.Close()
	if err := shared.Truncate(int64(os.Getpagesize())); err != nil {
		return nil, nil, err
	}
	t = &Thread{do: make(chan func())}
	if t.orders, err = mapOrders(memory); err != nil { // they stay mapped with the process
		return nil, nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{theirs, shared}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, nil, err
	}
	undo = append(undo, func() { ours.Close(); _ = cmd.Wait() }) // it ends with the socket, whatever it says
	begun := make(chan int)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		var fd int
		fd, err = listen()
		begun <- fd
		for f := range t.do {
			f()
		}
	}()
	fd := <-begun
	undo = append(undo, sync.OnceFunc(func() { close(t.do); <-ended }))
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(fd)
	return t, end, os.NewSyscallError("sendmsg", unix.Sendmsg(int(ours.Fd()), []byte{0}, unix.UnixRights(fd), nil, 0))
}

// Do runs f on the thread.
func (t *Thread) Do(f func()) {
	did := make(chan struct{})
	t.do <- func() { defer close(did); f() }
	<-did
}

// Fail has so many calls of the thread fail, from the number first on; the next is number 1.
// A count of 0 is all, until Fail is called again.
func (t *Thread) Fail(first, count int, errno syscall.Errno) {
	o := t.orders
	last := uint32(math.MaxUint32)
	if count > 0 {
		last = uint32(first + count - 1)
	}
	o.last.Store(0)
	o.seen.Store(0)
	o.failed.Store(0)
	o.first.Store(uint32(first))
	o.errno.Store(uint32(errno))
	o.last.Store(last)
}

// Relent has no more calls fail. What Failed returns stays.
func (t *Thread) Relent() { t.orders.last.Store(0) }

// Failed is how many calls have failed since Fail, and which was the first.
func (t *Thread) Failed() (first string, count int) {
	if count = int(t.orders.failed.Load()); count > 0 {
		first = name(t.orders.which.Load())
	}
	return first, count
}
