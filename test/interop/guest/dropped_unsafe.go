// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropped counts the messages that the kernel dropped because the socket's queue was
// full.
func (s socket) dropped() (int, error) {
	const soMeminfo, drops = 55, 8 // SO_MEMINFO of asm-generic/socket.h, SK_MEMINFO_DROPS of linux/sock_diag.h
	var info [9]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_SOCKET, soMeminfo,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0, os.NewSyscallError("getsockopt", errno)
	}
	return int(info[drops]), nil
}
