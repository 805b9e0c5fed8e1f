// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"os"
	"syscall"

	"github.com/utipc/utipc/attach"
)

// setSendBuffer sets how much may be on the way to the daemon: the longest record at least.
func setSendBuffer(c syscall.RawConn, bytes int) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, max(bytes, 2*attach.MaxRecord))
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("SO_SNDBUF", failed)
}

// closeFD closes a descriptor that came with a record, if one did.
func closeFD(fd int) {
	if fd >= 0 {
		syscall.Close(fd)
	}
}
