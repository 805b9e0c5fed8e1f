// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/sock"
)

// An end is the daemon's end of a plain socket, D.
type end struct {
	s    *sock.Socket
	cuts *cuts // of a stream that the daemon connects

	unread atomic.Bool // the program has closed its end with something unread in it; of TCP
}

// sendRoom is what a socket's buffer must take: the longest message, with what the kernel
// counts beside it.
const sendRoom = 2 * attach.MaxData

// receiveRoom is what SO_RCVBUF of a new socket reads, as a kernel's.
const receiveRoom = 2 << 20

// unixType is the type of the UNIX sockets of a kind.
func unixType(kind attach.Kind) int {
	if kind == attach.KindStream || isTCP(kind) {
		return unix.SOCK_STREAM
	}
	return unix.SOCK_SEQPACKET
}

// newPair makes a pair of UNIX sockets: D, and P in blocking mode.
func newPair(kind attach.Kind) (d *end, p int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unixType(kind)|closeOnExec, 0)
	if err != nil {
		return nil, -1, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds { // either may become a program's
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, receiveRoomOption, receiveRoom/2) // the kernel doubles it
		if room, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err == nil && room < sendRoom {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, sendRoomOption, sendRoom) // else long messages meet EMSGSIZE
		}
	}
	d, err = newEnd(fds[0])
	if err != nil {
		unix.Close(fds[1])
		return nil, -1, err
	}
	return d, fds[1], nil
}

func newEnd(fd int) (*end, error) {
	in, err := sock.NewSet()
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	s, err := sock.New(fd, in)
	return &end{s: s}, err
}

// control calls f with the descriptor.
func (e *end) control(f func(fd int) error) error {
	var failed error
	err := e.s.Control(func(fd uintptr) { failed = f(int(fd)) })
	if err == nil {
		err = failed
	}
	return err
}

// poll returns what of POLLIN, POLLRDHUP and POLLHUP holds.
func poll(fd int) int16 {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | readHangup}}
	for {
		if _, err := unix.Poll(p, 0); err != unix.EINTR {
			return p[0].Revents
		}
	}
}

// waitClosed waits until the program has closed its end, and reports false when a deadline
// of unwatch came first.
func (e *end) waitClosed() bool {
	return e.s.Read(func(fd uintptr) bool { return poll(int(fd))&unix.POLLHUP != 0 }) == nil
}

// hungUp reports whether the program has closed its end.
func (e *end) hungUp() (closed bool) {
	err := e.control(func(fd int) error {
		closed = poll(fd)&unix.POLLHUP != 0
		return nil
	})
	return closed || err != nil
}

// unwatch ends waitClosed.
func (e *end) unwatch() { _ = e.s.SetReadDeadline(time.Unix(1, 0)) }

// rewatch undoes unwatch.
func (e *end) rewatch() { _ = e.s.SetReadDeadline(time.Time{}) }

// scratch is memory for a message.
type scratch [attach.HeaderLen + attach.MaxData + 1]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// read waits for data and returns it in scratch, up to most bytes, which the caller gives back to scratches.
// n is 0 once the program has closed its end or shut it down.
func (e *end) read(most int) (buf *scratch, n int, err error) {
	var failed error
	err = e.s.Read(func(fd uintptr) bool {
		buf = scratches.Get().(*scratch)
		for {
			n, failed = e.receive(int(fd), buf[:most])
			switch {
			case failed == unix.EINTR:
				continue
			case failed == unix.ECONNRESET: // it has closed with something unread; what it wrote comes still
				e.unread.Store(true)
				continue
			case failed == unix.EAGAIN:
			case failed == nil && n == 0 && poll(int(fd))&readHangup == 0: // an empty message: TIPC delivers none
				continue
			default:
				return true
			}
			scratches.Put(buf)
			buf = nil
			return false
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		n = 0
		if buf != nil {
			scratches.Put(buf)
			buf = nil
		}
	}
	return buf, n, err
}

// write waits for room and writes all of b.
func (e *end) write(b []byte) error {
	var failed error
	err := e.s.Write(func(fd uintptr) bool {
		for {
			var n int
			n, failed = e.send(int(fd), b)
			switch {
			case failed == unix.EINTR:
			case failed == unix.EAGAIN:
				return false
			case failed != nil:
				return true
			default:
				if b = b[n:]; len(b) == 0 {
					return true
				}
			}
		}
	})
	if err == nil {
		err = failed
	}
	return err
}

// tryWrite writes a message, or to a stream as much of it as there is room for. Errors: syscall.EAGAIN.
func (e *end) tryWrite(b []byte) (n int, err error) {
	err = e.control(func(fd int) (err error) {
		for {
			if n, err = e.send(fd, b); err != unix.EINTR {
				return err
			}
		}
	})
	return max(n, 0), err
}

// drain takes n bytes out that the program has written, or as many as there are.
func (e *end) drain(n int) {
	_ = e.control(func(fd int) error {
		buf := scratches.Get().(*scratch)
		defer scratches.Put(buf)
		for n > 0 {
			k, _, err := unix.Recvfrom(fd, buf[:min(n, len(buf))], unix.MSG_DONTWAIT)
			if err == unix.EINTR {
				continue
			}
			if err != nil || k == 0 {
				return err
			}
			n -= k
		}
		return nil
	})
}

// finish has the program read what is written, then the end, and its writes fail.
func (e *end) finish() {
	_ = e.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) })
	e.drain(1 << 30) // unread, it would be an error at the program's end
	e.s.Close()
}

// release returns the descriptor, in blocking mode, and is void then.
func (e *end) release() (int, error) {
	fd := -1
	err := e.control(func(own int) (err error) {
		fd, err = unix.FcntlInt(uintptr(own), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	e.s.Close()
	return fd, err
}
