// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapMemory maps zeroed memory of its own for frames; free gives it back. It is
// not touched here: the arena takes its newest chunks first, so a quiet node needs
// a few pages of it only. Huge pages, where the kernel has some to give, make the
// first touch of 16 MiB cost 1 ms instead of 5.
func mapMemory(size int) (mem []byte, free func(), err error) {
	mem, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes for frames: %w", size, err)
	}
	unix.Madvise(mem, unix.MADV_HUGEPAGE) // a wish
	mapped.Add(int64(size))
	return mem, func() {
		if unix.Munmap(mem) == nil {
			mapped.Add(-int64(size))
		}
	}, nil
}
