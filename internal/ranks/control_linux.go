// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// control has TCP use cubic: some systems' default paces, and varies by a factor of three on
// a network without delay. (NODELAY is package net's default.)
func control(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Where cubic is not to be had the system's own is what there is.
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	})
}
