// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import "syscall"

// closeFD closes a descriptor that came with a record, if one did.
func closeFD(fd int) {
	if fd >= 0 {
		syscall.Close(fd)
	}
}
