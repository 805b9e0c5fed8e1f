// SPDX-License-Identifier: Apache-2.0

package stack

import "golang.org/x/sys/unix"

func wakeDescriptors() (r, w int, err error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, fd, err
}
