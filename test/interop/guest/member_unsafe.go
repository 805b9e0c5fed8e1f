// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A memberMessage is what a member of a group has received.
type memberMessage struct {
	n     int // bytes
	flags int32
	addrs [8]uint32 // two addresses of 16 bytes
}

// receiveMember waits for a message. Package unix knows one address of it, and there are two.
func receiveMember(fd int, b []byte) (m memberMessage, err error) {
	iov := unix.Iovec{Base: unsafe.SliceData(b)}
	iov.SetLen(len(b))
	h := unix.Msghdr{Name: (*byte)(unsafe.Pointer(&m.addrs)), Namelen: uint32(unsafe.Sizeof(m.addrs)), Iov: &iov}
	h.SetIovlen(1)
	n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&h)), 0)
	if errno != 0 {
		return m, errno
	}
	m.n, m.flags = int(n), h.Flags
	return m, nil
}
