// SPDX-License-Identifier: Apache-2.0

package shortage

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// orders are what both processes share: which calls fail, and what became of it.
type orders struct {
	seen          atomic.Uint32 // calls since Fail
	first, last   atomic.Uint32 // those that fail; none when last is 0
	errno         atomic.Uint32
	failed, which atomic.Uint32 // how many did, and the number of the first of them
}

// mapOrders maps the orders in a file.
func mapOrders(fd int) (*orders, error) {
	mem, err := unix.Mmap(fd, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return (*orders)(unsafe.Pointer(unsafe.SliceData(mem))), nil
}

// listen has the kernel ask about the calling thread's calls from now on, and returns the
// descriptor that it asks on.
func listen() (fd int, err error) {
	f := filter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: unsafe.SliceData(f)}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return -1, os.NewSyscallError("seccomp", errno)
	}
	return int(r), nil
}

// A question is the kernel's. Source: linux/seccomp.h, struct seccomp_notif.
type question struct {
	id         uint64
	pid, flags uint32
	number     uint32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// An answer is ours. Source: linux/seccomp.h, struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// answerOne waits for a question and answers it as the orders say. ENOENT: a signal has ended
// the call, which is made, and asked about, again.
func (o *orders) answerOne(fd int) syscall.Errno {
	var q question
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&q))); e != 0 {
		return e
	}
	a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if n := o.seen.Add(1); n >= o.first.Load() && n <= o.last.Load() {
		a.flags, a.errno = 0, -int32(o.errno.Load())
		if o.failed.Add(1) == 1 {
			o.which.Store(q.number)
		}
	}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	return e
}
