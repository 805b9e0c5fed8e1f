// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// Timeout is how long WaitCarrier waits at most.
const Timeout = time.Minute

// WaitCarrier returns when the interface is up and has carrier, or, with false,
// when it has not. It sleeps until the kernel tells of a change. Errors:
// os.ErrDeadlineExceeded after Timeout, or the system's.
func (n *Namespace) WaitCarrier(name string, want bool) error {
	return n.wait(name, fmt.Sprintf("carrier=%v", want), func(m link) bool { return carrier(m) == want })
}

// carrier says that the interface is up and has carrier. One flag is not enough: a
// new interface counts as running until the kernel has looked.
func carrier(m link) bool {
	const both = unix.IFF_RUNNING | unix.IFF_LOWER_UP
	return m.flags()&both == both
}

// operational says that the kernel has also acted upon the carrier. Until then
// what others than drivers send into a new interface is thrown away.
func operational(m link) bool {
	state := m.attribute(unix.IFLA_OPERSTATE)
	return carrier(m) && len(state) > 0 && state[0] == operUp
}

// wait returns when ready says so of the interface.
func (n *Namespace) wait(name, what string, ready func(link) bool) error {
	if err := n.Do(func() error { return waitLink(name, ready) }); err != nil {
		return fmt.Errorf("waiting for %s on %s: %w", what, name, err)
	}
	return nil
}

func waitLink(name string, ready func(link) bool) error {
	fd, err := netlink.Subscribe(unix.RTMGRP_LINK)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// Subscribed first, then looked: no change falls between.
	for end := time.Now().Add(Timeout); ; {
		m, err := get(name)
		if err != nil {
			return err
		}
		if ready(m) {
			return nil
		}
		left := time.Until(end)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, int(left.Milliseconds())+1); err != nil && err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
		// What it says does not matter, only that something changed.
		var event [8192]byte
		for {
			if _, _, err := unix.Recvfrom(fd, event[:], unix.MSG_DONTWAIT); err == unix.EAGAIN {
				break
			}
		}
	}
}
