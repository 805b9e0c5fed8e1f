// SPDX-License-Identifier: Apache-2.0

//go:build unix

package stack

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A pollBell sleeps in poll(2) on the devices' descriptors and its own.
type pollBell struct {
	fds []unix.PollFd // its own, then the devices', which are negative while not listened to; of the sleeper

	// mu guards the rest, so that no descriptor is used that was closed and may be
	// another file's by now. No call under it waits.
	mu          sync.Mutex
	read, write int  // one eventfd, or the ends of a pipe
	inside      bool // somebody sleeps
	closed      bool
}

func newPollBell(devices []int) (bell, error) {
	b := &pollBell{}
	var err error
	if b.read, b.write, err = wakeDescriptors(); err != nil {
		return nil, fmt.Errorf("stack: descriptor to be woken by: %w", err)
	}
	b.fds = append(b.fds, unix.PollFd{Fd: int32(b.read), Events: unix.POLLIN})
	b.watch(devices)
	return b, nil
}

// noDescriptor stands for the descriptor of a device that has none: poll passes over it.
const noDescriptor = -1 << 31

func (b *pollBell) watch(fds []int) {
	b.fds = b.fds[:1]
	for _, fd := range fds {
		if fd < 0 {
			fd = noDescriptor
		}
		b.fds = append(b.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
}

func (b *pollBell) listen(i int, on bool) {
	if p := &b.fds[1+i]; on != (p.Fd >= 0) && p.Fd != noDescriptor {
		p.Fd = ^p.Fd
	}
}

func (b *pollBell) heard(i int) bool { return b.fds[1+i].Revents != 0 }

func (b *pollBell) wait(d time.Duration) {
	// Rounded up: waking before the deadline would only mean waking again.
	ms := min((d+time.Millisecond-1)/time.Millisecond, time.Hour/time.Millisecond)
	for i := range b.fds {
		b.fds[i].Revents = 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.inside = true
	b.mu.Unlock()
	n, err := unix.Poll(b.fds, int(max(ms, 0)))
	b.mu.Lock()
	b.inside = false
	if err == nil && n > 0 && b.fds[0].Revents != 0 {
		var buf [64]byte
		unix.Read(b.read, buf[:])
	}
	if b.closed {
		b.closeLocked()
	}
}

func (b *pollBell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.ringLocked()
	}
}

func (b *pollBell) ringLocked() {
	one := [8]byte{0: 1}
	unix.Write(b.write, one[:]) // full means that it is ringing already
}

func (b *pollBell) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return
	case b.inside:
		b.ringLocked()
	default:
		b.closeLocked()
	}
	b.closed = true
}

func (b *pollBell) closeLocked() {
	unix.Close(b.read)
	if b.write != b.read {
		unix.Close(b.write)
	}
}
