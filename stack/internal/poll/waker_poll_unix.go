// SPDX-License-Identifier: Apache-2.0

//go:build unix

package poll

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A pollWaker sleeps in poll(2) on the devices' descriptors and its own.
type pollWaker struct {
	fds []unix.PollFd // its own, then the devices', which are negative while not listened to; of the sleeper

	// mu guards the rest, so that no descriptor is used that was closed and may be
	// another file's by now. No call under it waits.
	mu     sync.Mutex
	alarm  alarm
	inside bool // somebody sleeps
	closed bool
}

func newPollWaker(devices []int) (waker, error) {
	b := &pollWaker{}
	var err error
	if b.alarm, err = newAlarm(); err != nil {
		return nil, fmt.Errorf("stack: descriptor to be woken by: %w", err)
	}
	b.fds = append(b.fds, unix.PollFd{Fd: int32(b.alarm.fd), Events: unix.POLLIN})
	b.watch(devices)
	return b, nil
}

// noDescriptor stands for the descriptor of a device that has none: poll passes over it.
const noDescriptor = -1 << 31

func (b *pollWaker) watch(fds []int) {
	b.fds = b.fds[:1]
	for _, fd := range fds {
		if fd < 0 {
			fd = noDescriptor
		}
		b.fds = append(b.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
}

func (b *pollWaker) listen(i int, on bool) {
	if p := &b.fds[1+i]; on != (p.Fd >= 0) && p.Fd != noDescriptor {
		p.Fd = ^p.Fd
	}
}

func (b *pollWaker) heard(i int) bool { return b.fds[1+i].Revents != 0 }

func (b *pollWaker) wait(now, until time.Duration) {
	for i := range b.fds {
		b.fds[i].Revents = 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.inside = true
	limit := b.alarm.set(now, until)
	b.mu.Unlock()
	n, err := unix.Poll(b.fds, limit)
	b.mu.Lock()
	b.inside = false
	if err == nil && n > 0 && b.fds[0].Revents != 0 {
		b.alarm.quiet()
	}
	if b.closed {
		b.alarm.close()
	}
}

func (b *pollWaker) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.alarm.ring()
	}
}

func (b *pollWaker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return
	case b.inside:
		b.alarm.ring()
	default:
		b.alarm.close()
	}
	b.closed = true
}
