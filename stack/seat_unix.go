// SPDX-License-Identifier: Apache-2.0

//go:build unix

package stack

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// A pollBell sleeps in poll(2) on the devices' descriptors and its own.
type pollBell struct {
	read, write int // one eventfd, or the ends of a pipe
	fds         []unix.PollFd
}

func newPollBell(devices []int) (bell, error) {
	b := &pollBell{}
	var err error
	if b.read, b.write, err = wakeDescriptors(); err != nil {
		return nil, fmt.Errorf("stack: descriptor to be woken by: %w", err)
	}
	b.fds = append(b.fds, unix.PollFd{Fd: int32(b.read), Events: unix.POLLIN})
	for _, fd := range devices {
		if fd >= 0 {
			b.fds = append(b.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	return b, nil
}

func (b *pollBell) wait(d time.Duration) {
	// Rounded up: waking before the deadline would only mean waking again.
	ms := min((d+time.Millisecond-1)/time.Millisecond, time.Hour/time.Millisecond)
	for i := range b.fds {
		b.fds[i].Revents = 0
	}
	n, err := unix.Poll(b.fds, int(max(ms, 0)))
	if err == nil && n > 0 && b.fds[0].Revents != 0 {
		var buf [64]byte
		unix.Read(b.read, buf[:])
	}
}

func (b *pollBell) ring() {
	one := [8]byte{0: 1}
	unix.Write(b.write, one[:]) // full means that it is ringing already
}

func (b *pollBell) close() {
	unix.Close(b.read)
	if b.write != b.read {
		unix.Close(b.write)
	}
}
