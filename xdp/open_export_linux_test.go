// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// TakeQueue binds a socket to a queue of an interface until the descriptor it
// returns is closed. It is for tests that need somebody else there.
func TakeQueue(ifindex, queue int) (fd int, err error) {
	// Whoever had the queue last may have it for a moment yet.
	err = patiently(Timeouts{}.timeouts().queue, func() error {
		fd, err = takeQueue(ifindex, queue)
		return err
	})
	return fd, err
}

func takeQueue(ifindex, queue int) (fd int, err error) {
	s, err := openSocket(queue)
	if err != nil {
		return -1, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.prepare(trialRing, trialRing, 0); err != nil {
		return -1, err
	}
	arena := netdev.NewArena(netdev.ArenaConfig{Small: trialMemory / chunkSize})
	if err := registerMemory(s.fd, arena.Memory()); err != nil {
		return -1, err
	}
	runtime.KeepAlive(arena) // the kernel keeps the pages from here on
	if err := unix.Bind(s.fd, &unix.SockaddrXDP{Flags: unix.XDP_COPY, Ifindex: uint32(ifindex), QueueID: uint32(queue)}); err != nil {
		return -1, err
	}
	s.unmap()
	return s.fd, nil
}
