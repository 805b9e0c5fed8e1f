// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A supervisor serves the calls of a filter, each in a goroutine. There are no more of these than
// threads of the program that wait for an answer, and those of threads that were killed since the last
// sweep.
type supervisor struct {
	l      listener
	socket string // the daemon's, its path
	watch  *watcher

	mu    sync.Mutex
	calls map[*call]struct{} // that are not answered
	many  int                // calls that cause a sweep
}

const (
	// looks is how often all calls are looked at: whether their threads are still there. Most that
	// end make their pidfd ready at once. The first thread of a process does not when another
	// thread executes a program, nor does a thread of a process that goes on with a kernel before Linux 6.9.
	looks = time.Second
	// fewest is the number of calls below which there is no sweep but by time.
	fewest = 64
)

func newSupervisor(l listener, socket string) (*supervisor, error) {
	w, err := newWatcher(l)
	if err != nil {
		return nil, err
	}
	return &supervisor{l: l, socket: socket, watch: w, calls: make(map[*call]struct{}), many: fewest}, nil
}

// serve serves calls until no process has the filter.
func (s *supervisor) serve() {
	defer unix.Close(int(s.l))
	defer s.watch.close()
	for swept := time.Now(); ; {
		limit := time.Duration(-1)
		if s.count() > 0 {
			limit = looks
		}
		events, err := s.watch.wait(limit)
		if err != nil || events&unix.EPOLLIN == 0 && events&unix.EPOLLHUP != 0 { // there is no such process
			break
		}
		if n := new(notification); events&unix.EPOLLIN != 0 && s.l.receive(n) == nil { // else it is over
			s.begin(n)
		}
		if now := time.Now(); now.Sub(swept) >= looks {
			s.sweep()
			swept = now
		}
	}
	s.sweep()
}

// count returns the number of calls that are not answered.
func (s *supervisor) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// begin carries a call out in a goroutine of its own.
func (s *supervisor) begin(n *notification) {
	c := &call{s: s, n: n, fd: -1, process: -1, ended: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	s.mu.Lock()
	s.calls[c] = struct{}{}
	many := len(s.calls) > s.many
	s.mu.Unlock()
	go func() {
		s.answer(c)
		s.mu.Lock()
		delete(s.calls, c)
		s.mu.Unlock()
		close(c.ended)
	}()
	if many {
		s.sweep()
		s.many = max(fewest, 2*s.count())
	}
}

// sweep ends the calls of threads that have ended.
func (s *supervisor) sweep() {
	s.mu.Lock()
	var over []*call
	for c := range s.calls {
		if !s.l.valid(c.n.ID) {
			over = append(over, c)
		}
	}
	s.mu.Unlock()
	for _, c := range over {
		c.cancel()
	}
	for _, c := range over {
		<-c.ended
	}
}

// A result is what comes of a call.
type result struct {
	value   int64
	err     error // nil, or what Errno says
	kernel  bool  // the kernel carries it out as it is
	fd      int   // given to the program, where its number is the value; -1: none
	fdFlags uint32
}

// byKernel passes a call on to the kernel.
var byKernel = result{kernel: true, fd: -1}

func failed(err error) result     { return result{err: err, fd: -1} }
func returned(value int) result   { return result{value: int64(value), fd: -1} }
func opened(fd, flags int) result { return result{fd: fd, fdFlags: uint32(flags & unix.O_CLOEXEC)} }
func errnoOf(err error) syscall.Errno {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return unix.EIO
}

// answer carries a call out and answers it.
func (s *supervisor) answer(c *call) {
	r := c.serve()
	c.release()
	if r.fd >= 0 {
		d := descriptor{ID: c.n.ID, Flags: unix.SECCOMP_ADDFD_FLAG_SEND, Source: uint32(r.fd), NewFlags: r.fdFlags}
		_, err := s.l.give(&d)
		unix.Close(r.fd)
		if err == nil || err == unix.ENOENT {
			return
		}
		r = failed(err)
	}
	a := response{ID: c.n.ID, Value: r.value}
	switch {
	case r.kernel:
		a.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	case r.err != nil:
		a.Value, a.Error = 0, -int32(errnoOf(r.err))
	}
	_ = s.l.send(&a) // ENOENT: the thread is gone
}
