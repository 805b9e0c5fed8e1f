// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the datapath. They return at once and are made past the
// Go scheduler, which would otherwise be free to take the processor away
// meanwhile: 0.1 µs less a round trip and a shorter tail.

// receive takes one frame from fd into b. n is the frame's length in bytes, also
// when it is longer than b and only its beginning was copied.
func receive(fd int, b []byte) (n int, errno unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	return int(r), e
}

// send gives the frame b to fd, which keeps a copy.
func send(fd int, b []byte) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	return e
}

// attachFilter makes fd receive only what the classic BPF program keeps.
func attachFilter(fd int, program []unix.SockFilter) error {
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
		Len:    uint16(len(program)),
		Filter: unsafe.SliceData(program),
	})
}
