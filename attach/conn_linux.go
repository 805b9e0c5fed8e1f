// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
	"github.com/utipc/utipc/internal/sock"
)

// A Conn is one end of a connection between a program and the daemon: records both
// ways, on a SOCK_SEQPACKET socket. It is safe for concurrent use; records are read
// one at a time, and written one at a time. Reading and writing allocate nothing.
//
// A descriptor that nobody asked for never comes into the process.
type Conn struct {
	s *sock.Socket

	rmu   sync.Mutex // guards r, pool and taken
	r     message
	pool  bool    // the data goes to a Buffer of the pool
	taken *Buffer // from there
	rwait func(uintptr) bool
	ronce func(uintptr) bool

	wmu   sync.Mutex // guards w and last
	w     message
	last  bool // the last record has been written, or its writing begun
	wwait func(uintptr) bool
	wonce func(uintptr) bool

	ring  atomic.Pointer[wakers] // nil: none
	rring bool                   // reads use it; guarded by rmu
	wring bool                   // writes do; guarded by wmu
	take  func() []byte          // makes taken

	dmu       sync.Mutex // guards the deadlines
	deadlines [2]time.Time

	refused atomic.Uint64
}

// NewConn makes a Conn of a connected SOCK_SEQPACKET socket, which is its own from then
// on, also when that fails. Errors: those of the system.
func NewConn(fd int) (*Conn, error) {
	in, err := sock.NewSet()
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return newConn(fd, in)
}

// newConn is NewConn with the set to wait with.
func newConn(fd int, in sock.Set) (*Conn, error) {
	s, err := sock.New(fd, in)
	if err != nil {
		return nil, err
	}
	var kind, family int
	var failed error
	err = s.Control(func(fd uintptr) {
		var no [2]error
		kind, no[0] = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
		family, no[1] = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		failed = errors.Join(no[:]...)
		if failed == nil && (kind != unix.SOCK_SEQPACKET || family != unix.AF_UNIX) {
			failed = unix.EPROTOTYPE
		}
		widen(fd) // where the system's default is small
	})
	if err := errors.Join(err, failed); err != nil {
		s.Close()
		return nil, os.NewSyscallError("not a SOCK_SEQPACKET socket", err)
	}
	c := &Conn{s: s}
	c.take = func() []byte { c.taken = buffers.Get().(*Buffer); return c.taken.room[:] }
	c.rwait = func(fd uintptr) bool { return c.tryReceive(fd, callfault.ReceiveWait) != unix.EAGAIN }
	c.ronce = func(fd uintptr) bool { c.tryReceive(fd, callfault.Receive); return true }
	c.wwait = func(fd uintptr) bool { return c.trySend(fd, callfault.SendWait) != unix.EAGAIN }
	c.wonce = func(fd uintptr) bool { c.trySend(fd, callfault.Send); return true }
	return c, nil
}

// Pair returns two Conns that are connected to each other. The second is a descriptor
// yet, in blocking mode, to be passed to another process, or to NewConn.
func Pair() (*Conn, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, os.NewSyscallError("socketpair", err)
	}
	c, err := NewConn(fds[0])
	if err != nil {
		unix.Close(fds[1])
		return nil, -1, err
	}
	return c, fds[1], nil
}

// Refused is how many records brought descriptors that nobody had asked for.
func (c *Conn) Refused() uint64 { return c.refused.Load() }

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(forData, t) }

// SetWriteDeadline does that for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(forRoom, t) }

// SetDeadline sets both.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *Conn) setDeadline(which int, t time.Time) error {
	c.dmu.Lock()
	defer c.dmu.Unlock()
	c.deadlines[which] = t
	switch b := c.ring.Load(); {
	case b != nil:
		return b.setDeadline(c, which, t)
	case which == forData:
		return c.s.SetReadDeadline(t)
	default:
		return c.s.SetWriteDeadline(t)
	}
}

// Close ends the connection: the peer reads what was written, then io.EOF. All waiting
// calls end with net.ErrClosed.
func (c *Conn) Close() error {
	err := c.s.Close()
	if b := c.ring.Load(); b != nil && err == nil {
		b.shut()
		c.rmu.Lock() // whoever used the ring has let go of it
		c.wmu.Lock()
		b.ring.unmap()
		c.wmu.Unlock()
		c.rmu.Unlock()
	}
	return err
}

// CloseRead ends what comes: the peer's writes fail with syscall.EPIPE from now on, and
// reads here give what it has written before, then io.EOF. Of a ring the peer learns by
// what it is told, and by Close: its writes may go on till then, and are not read once
// there was nothing to read.
func (c *Conn) CloseRead() error {
	err := c.s.CloseRead()
	if b := c.ring.Load(); b != nil {
		b.ended.Store(true)
	}
	return err
}

// SyscallConn gives access to the socket, for those who poll it. Their functions send and receive with MSG_DONTWAIT: the
// descriptor may be in blocking mode.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.s, nil }

// Credentials says who is at the other end, as the system knows it: of a connection to
// a Listener who connected, and when.
func (c *Conn) Credentials() (Credentials, error) {
	var out Credentials
	var failed error
	err := c.s.Control(func(fd uintptr) {
		u, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			failed = os.NewSyscallError("SO_PEERCRED", err)
			return
		}
		out = Credentials{PID: int(u.Pid), UID: u.Uid, GID: u.Gid}
		if out.Groups, err = peerGroups(int(fd)); err != nil {
			failed = os.NewSyscallError("SO_PEERGROUPS", err)
		}
	})
	return out, errors.Join(err, failed)
}
