// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// timeout is how long anything may take that must happen. It only bounds a
// failing test.
const timeout = 2 * time.Minute

var errTimeout = errors.New("nothing arrived, no wake-up came")

// A waker is what a node sleeps on beside a device's descriptor: a pipe that wake
// writes to.
type waker struct {
	mu     sync.Mutex // guards closed, and ring against close
	closed bool
	fds    [2]int
	poll   [2]unix.PollFd // of the one who sleeps
	sink   [64]byte
}

func newWaker() (*waker, error) {
	b := new(waker)
	if err := unix.Pipe(b.fds[:]); err != nil {
		return nil, err
	}
	for _, fd := range b.fds {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// ring is the wake of a device. A full pipe rings as well.
func (b *waker) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		_, _ = unix.Write(b.fds[1], []byte{1})
	}
}

// sleep returns when the waker was rung or fd, unless -1, is readable. Only one
// goroutine may sleep.
func (b *waker) sleep(fd int) error {
	b.poll[0] = unix.PollFd{Fd: int32(b.fds[0]), Events: unix.POLLIN}
	b.poll[1] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	for {
		switch n, err := unix.Poll(b.poll[:], int(timeout/time.Millisecond)); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return errTimeout
		}
		if b.poll[0].Revents != 0 {
			_, _ = unix.Read(b.fds[0], b.sink[:])
		}
		return nil
	}
}

// readable says whether fd has something to read now.
func readable(fd int) (bool, error) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}

func (b *waker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	unix.Close(b.fds[0])
	unix.Close(b.fds[1])
}
