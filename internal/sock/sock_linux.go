// SPDX-License-Identifier: Apache-2.0

// Package sock has sockets whose calls are woken by what they wait for alone.
package sock

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Socket is one whose calls wait each for what it needs alone. The runtime's poller would wake those that wait
// for data whenever there is room to write as well, that is, each time the other end has read: two switches of
// threads a message, before what it has read can be dealt with. So the poller has sets instead. A
// Socket is safe for concurrent use, and its calls allocate nothing. It is a syscall.RawConn whose functions are not to
// block: they send and receive with MSG_DONTWAIT, as the descriptor's own mode stays as it is.
//
//	poller ── in  ── the socket: data, or the end
//	      └── out ── the socket: room; made for the first call that waits for it
type Socket struct {
	fd     uintptr
	life   sync.RWMutex // held for reading while fd is used but by in and out, which Close waits for
	closed bool         // guarded by life
	in     Set

	rmu  sync.Mutex // one call of Read at a time
	rfn  func(fd uintptr) bool
	read func(uintptr) bool

	wmu   sync.Mutex // one call of Write at a time
	wfn   func(fd uintptr) bool
	wrote bool
	try   func(uintptr)
	write func(own uintptr) bool

	mu    sync.Mutex // guards the rest
	out   Set        // zero: not made
	until time.Time  // the deadline of Write
	ended bool       // no out is made any more
}

// A Set is an epoll set of one socket.
type Set struct {
	f   *os.File
	raw syscall.RawConn
}

// NewSet makes a Set, of nothing. Errors: the system's, EMFILE and so on.
func NewSet() (s Set, err error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return s, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // for NewFile to give it to the poller
		unix.Close(fd)
		return s, os.NewSyscallError("fcntl", err)
	}
	s.f = os.NewFile(uintptr(fd), "epoll")
	if err = s.f.SetDeadline(time.Time{}); err == nil { // else the poller has refused it
		s.raw, err = s.f.SyscallConn()
	}
	if err != nil {
		s.f.Close()
	}
	return s, err
}

// Close closes a Set that New was not given.
func (s Set) Close() error { return s.f.Close() }

// watch has the set wait for events of the socket.
func (s Set) watch(fd uintptr, events uint32) error {
	var failed error
	err := s.raw.Control(func(own uintptr) {
		failed = os.NewSyscallError("epoll_ctl", unix.EpollCtl(int(own), unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: events}))
	})
	return errors.Join(err, failed)
}

// New makes a Socket of a descriptor, with a Set to wait for data with. Both are its own from then on, also when that
// fails. Errors: the system's.
func New(fd int, in Set) (*Socket, error) {
	if err := in.watch(uintptr(fd), unix.EPOLLIN|unix.EPOLLRDHUP); err != nil {
		in.Close()
		unix.Close(fd)
		return nil, err
	}
	s := &Socket{fd: uintptr(fd), in: in}
	s.read = func(uintptr) bool { return s.rfn(s.fd) }
	s.try = func(fd uintptr) { s.wrote = s.wfn(fd) }
	s.write = func(uintptr) bool { return s.wfn(s.fd) }
	return s, nil
}

// Error returns net.ErrClosed for an error of a file that is no deadline's: such a file is closed.
func Error(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return net.ErrClosed
}

// Control calls f with the descriptor. Errors: net.ErrClosed.
func (s *Socket) Control(f func(fd uintptr)) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return net.ErrClosed
	}
	f(s.fd)
	return nil
}

// Read calls f until it returns true, each time that something may be there to read. Errors: net.ErrClosed,
// os.ErrDeadlineExceeded.
func (s *Socket) Read(f func(fd uintptr) bool) error {
	s.rmu.Lock()
	defer s.rmu.Unlock()
	s.rfn = f
	return Error(s.in.raw.Read(s.read))
}

// Write calls f until it returns true, each time that there may be room. Errors: net.ErrClosed, os.ErrDeadlineExceeded.
func (s *Socket) Write(f func(fd uintptr) bool) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	s.wfn = f
	for {
		switch out, err := s.room(false); {
		case err != nil:
			return err
		case out.f != nil:
			return Error(out.raw.Read(s.write))
		}
		if err := s.Control(s.try); err != nil || s.wrote {
			return err
		}
		if out, err := s.room(true); err == nil && out.f == nil {
			_ = s.Control(pollRoom)
		}
	}
}

// pollRoom waits for room without a Set, for which the system had no descriptor or memory, and not for long: no
// deadline and no Close ends that.
func pollRoom(fd uintptr) {
	const most = 16 // ms
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, most)
}

// room returns the Set that waits for room, which it makes if it is to, and can. Errors: net.ErrClosed; without
// a Set os.ErrDeadlineExceeded.
func (s *Socket) room(makeIt bool) (Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return Set{}, net.ErrClosed
	case s.out.f != nil:
		return s.out, nil
	case !s.until.IsZero() && time.Until(s.until) <= 0:
		return Set{}, os.ErrDeadlineExceeded
	case !makeIt:
		return Set{}, nil
	}
	out, err := NewSet()
	if err != nil {
		return Set{}, nil
	}
	if err := errors.Join(out.watch(s.fd, unix.EPOLLOUT), out.f.SetReadDeadline(s.until)); err != nil {
		out.Close()
		return Set{}, nil
	}
	s.out = out
	return out, nil
}

func closedIf(closed bool) error {
	if closed {
		return net.ErrClosed
	}
	return nil
}

// SetReadDeadline sets the time at which Read ends; zero means never. Errors: net.ErrClosed.
func (s *Socket) SetReadDeadline(t time.Time) error { return Error(s.in.f.SetReadDeadline(t)) }

// SetWriteDeadline does that for Write.
func (s *Socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = t
	if s.ended || s.out.f == nil {
		return closedIf(s.ended)
	}
	return Error(s.out.f.SetReadDeadline(t))
}

// CloseRead ends what comes.
func (s *Socket) CloseRead() error {
	var failed error
	err := s.Control(func(fd uintptr) { failed = os.NewSyscallError("shutdown", unix.Shutdown(int(fd), unix.SHUT_RD)) })
	return errors.Join(err, failed)
}

// Close closes the socket; calls that wait end with net.ErrClosed.
func (s *Socket) Close() error {
	s.mu.Lock()
	again := s.ended
	s.ended = true
	s.mu.Unlock()
	if again {
		return net.ErrClosed
	}
	s.in.Close() // returns when nobody uses it any more
	if s.out.f != nil {
		s.out.Close()
	}
	s.life.Lock()
	defer s.life.Unlock()
	s.closed = true
	return os.NewSyscallError("close", unix.Close(int(s.fd)))
}
