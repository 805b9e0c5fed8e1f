// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// burstLen is the most frames one system call sends. From 16 on the gain stays the
// same.
const burstLen = 16

// A burst is what the kernel reads to send several frames at once, and where it
// writes how that went. It lives in the heap, so the call needs no memory of its
// own. The zero burst is ready for use.
type burst struct {
	heads [burstLen]struct { // struct mmsghdr, see sendmmsg(2)
		head unix.Msghdr
		sent uint32 // bytes, written by the kernel
	}
	parts [burstLen]unix.Iovec
}

// add makes b the burst's frame number i.
func (t *burst) add(i int, b []byte) {
	t.parts[i].Base = unsafe.SliceData(b)
	t.parts[i].SetLen(len(b))
	t.heads[i].head.Iov = &t.parts[i]
	t.heads[i].head.SetIovlen(1)
}

// send gives the first n frames, at least one, to fd, which keeps copies. taken is
// how many it took, in order; an error is about the first of them, with none taken.
func (t *burst) send(fd, n int) (taken int, errno unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&t.heads)), uintptr(n),
		unix.MSG_DONTWAIT, 0, 0)
	return int(r), e
}
