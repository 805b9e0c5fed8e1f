// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package stack

import "golang.org/x/sys/unix"

func wakeDescriptors() (r, w int, err error) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return 0, 0, err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		unix.SetNonblock(fd, true)
	}
	return p[0], p[1], nil
}
