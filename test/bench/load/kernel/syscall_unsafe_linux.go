// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Both are not inlined, so that each call of them is a place where the scheduler can
// take a spinning goroutine off its processor; inside of RawSyscall it cannot.

// rawRead is read(2) on a non-blocking descriptor. b must not be empty.
//
//go:noinline
func rawRead(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}

// rawWrite is write(2) likewise.
//
//go:noinline
func rawWrite(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
