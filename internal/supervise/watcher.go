// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A watcher waits for notifications, and for descriptors on behalf of all calls, in one thread. A
// call that waited by poll(2) would keep a thread of its own, of which the Go runtime allows 10,000.
type watcher struct {
	epoll int

	mu    sync.Mutex
	last  uint64            // number of the newest watch; 0 is the listener
	ready map[uint64]func() // by the number of the watch; nil once the watcher is closed
}

func newWatcher(l listener) (*watcher, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(l), &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	return &watcher{epoll: epoll, ready: make(map[uint64]func())}, nil
}

// add has ready be called once when one of the events, or the end, of a descriptor has come. The
// caller calls stop before it closes the descriptor. ready must not wait.
func (w *watcher) add(fd int, events uint32, ready func()) (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready == nil {
		return nil, os.ErrClosed
	}
	w.last++
	number := w.last
	e := unix.EpollEvent{Events: events | unix.EPOLLONESHOT, Fd: int32(uint32(number)), Pad: int32(number >> 32)}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return nil, err
	}
	w.ready[number] = ready
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.ready != nil {
			delete(w.ready, number)
			_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil)
		}
	}, nil
}

// wait calls what is ready, waiting for at most a limit, negative: without end. It returns the events of
// the listener.
func (w *watcher) wait(limit time.Duration) (listener uint32, err error) {
	var all [64]unix.EpollEvent
	timeout := -1
	if limit >= 0 {
		timeout = int(limit.Milliseconds())
	}
	n, err := unix.EpollWait(w.epoll, all[:], timeout)
	if err == unix.EINTR {
		return 0, nil
	}
	if err != nil {
		return 0, os.NewSyscallError("epoll_wait", err)
	}
	for _, e := range all[:n] {
		number := uint64(uint32(e.Pad))<<32 | uint64(uint32(e.Fd))
		if number == 0 {
			listener = e.Events
			continue
		}
		w.mu.Lock()
		ready := w.ready[number]
		delete(w.ready, number)
		w.mu.Unlock()
		if ready != nil {
			ready()
		}
	}
	return listener, nil
}

// close ends the watcher. Nothing waits on it any more.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = nil
	unix.Close(w.epoll)
}
