// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A supervisor serves the calls of a filter.
type supervisor struct {
	l      listener
	socket string // the daemon's, its path
	wg     sync.WaitGroup
}

func newSupervisor(l listener, socket string) *supervisor { return &supervisor{l: l, socket: socket} }

// serve serves calls until no process has the filter.
func (s *supervisor) serve() {
	defer unix.Close(int(s.l))
	defer s.wg.Wait()
	for {
		p := []unix.PollFd{{Fd: int32(s.l), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, -1); err == unix.EINTR {
			continue
		}
		if p[0].Revents&unix.POLLIN == 0 { // POLLHUP: there is no such process
			return
		}
		n := new(notification)
		if s.l.receive(n) != nil { // it is over
			continue
		}
		s.wg.Go(func() { s.answer(n) })
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
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return unix.EIO
}

// answer carries a call out and answers it.
func (s *supervisor) answer(n *notification) {
	c := &call{s: s, n: n, fd: -1, process: -1}
	r := c.serve()
	c.release()
	if r.fd >= 0 {
		d := descriptor{ID: n.ID, Flags: unix.SECCOMP_ADDFD_FLAG_SEND, Source: uint32(r.fd), NewFlags: r.fdFlags}
		_, err := s.l.give(&d)
		unix.Close(r.fd)
		if err == nil || err == unix.ENOENT {
			return
		}
		r = failed(err)
	}
	a := response{ID: n.ID, Value: r.value}
	switch {
	case r.kernel:
		a.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	case r.err != nil:
		a.Value, a.Error = 0, -int32(errnoOf(r.err))
	}
	_ = s.l.send(&a) // ENOENT: the thread is gone
}
