// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Conn is one end of a connection between a program and the daemon: records both
// ways, on a SOCK_SEQPACKET socket. It is safe for concurrent use; records are read
// one at a time, and written one at a time. Reading and writing allocate nothing.
//
// A descriptor that nobody asked for never comes into the process.
type Conn struct {
	uc  *net.UnixConn
	raw syscall.RawConn

	rmu   sync.Mutex // guards r, pool and taken
	r     message
	pool  bool    // the data goes to a Buffer of the pool
	taken *Buffer // from there
	rwait func(uintptr) bool
	ronce func(uintptr) bool

	wmu   sync.Mutex // guards w
	w     message
	wwait func(uintptr) bool
	wonce func(uintptr) bool

	ring  atomic.Pointer[bells] // nil: none
	rring bool                  // reads use it; guarded by rmu
	wring bool                  // writes do; guarded by wmu
	take  func() []byte         // makes taken

	dmu       sync.Mutex // guards the deadlines
	deadlines [2]time.Time

	refused atomic.Uint64
}

// NewConn makes a Conn of a connected SOCK_SEQPACKET socket, which is its own from then
// on, also when that fails. Errors: those of the system.
func NewConn(fd int) (*Conn, error) {
	if t, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || t != unix.SOCK_SEQPACKET {
		unix.Close(fd)
		return nil, os.NewSyscallError("not a SOCK_SEQPACKET socket", errors.Join(err, unix.EPROTOTYPE))
	}
	f := os.NewFile(uintptr(fd), "utipc")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	uc, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, os.NewSyscallError("not a UNIX socket", unix.EAFNOSUPPORT)
	}
	return FromUnix(uc)
}

// FromUnix is NewConn for a connection of package net, "unixpacket".
func FromUnix(uc *net.UnixConn) (*Conn, error) {
	raw, err := uc.SyscallConn()
	if err != nil {
		uc.Close()
		return nil, err
	}
	c := &Conn{uc: uc, raw: raw}
	// Where the system's default is small the longest record would not fit.
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF); err == nil && n < 2*MaxRecord {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 2*MaxRecord)
		}
	})
	c.take = func() []byte { c.taken = buffers.Get().(*Buffer); return c.taken.room[:] }
	c.rwait = func(fd uintptr) bool { return c.tryReceive(fd) != unix.EAGAIN }
	c.ronce = func(fd uintptr) bool { c.tryReceive(fd); return true }
	c.wwait = func(fd uintptr) bool { return c.trySend(fd) != unix.EAGAIN }
	c.wonce = func(fd uintptr) bool { c.trySend(fd); return true }
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

func (c *Conn) tryReceive(fd uintptr) syscall.Errno {
	if c.pool {
		c.r.prepare(c.take(), false)
	}
	for {
		c.r.receive(fd)
		// A peer that closed with records unread makes this fail once; what it wrote
		// before is there still.
		if c.r.errno == unix.EINTR || c.r.errno == unix.ECONNRESET {
			continue
		}
		if c.r.errno != 0 && c.pool {
			c.untake()
		}
		return c.r.errno
	}
}

func (c *Conn) trySend(fd uintptr) syscall.Errno {
	for {
		c.w.send(fd)
		if c.w.errno != unix.EINTR && c.w.errno != unix.ECONNRESET { // see tryReceive
			return c.w.errno
		}
	}
}

// Read waits for a record and copies its header to h and its data to b. n is how much
// of b is filled; of data that is longer, as h.Len tells, the rest is lost. Errors, as
// package net has them: io.EOF after the last record of a peer that has closed,
// net.ErrClosed, os.ErrDeadlineExceeded, ErrRecord.
func (c *Conn) Read(h *Header, b []byte) (n int, err error) {
	n, _, err = c.read(h, b, false, true)
	return n, err
}

// TryRead is Read that fails with syscall.EAGAIN rather than wait, for a record or for
// another call that reads.
func (c *Conn) TryRead(h *Header, b []byte) (n int, err error) {
	n, _, err = c.read(h, b, false, false)
	return n, err
}

// ReadFD is Read that takes a descriptor, which is the caller's then; -1 when none came.
func (c *Conn) ReadFD(h *Header, b []byte) (n, fd int, err error) {
	return c.read(h, b, true, true)
}

func (c *Conn) read(h *Header, b []byte, control, wait bool) (n, fd int, err error) {
	if !c.lockRead(wait) {
		return 0, -1, unix.EAGAIN
	}
	defer c.rmu.Unlock()
	if c.rring {
		n, err = c.ring.Load().read(c, h, b, nil, wait)
		return n, -1, err
	}
	c.r.prepare(b, control)
	err = c.raw.Read(c.receiver(wait))
	n, fd, err = c.finish(h, len(b), control, err)
	c.r.done()
	return n, fd, err
}

// lockRead makes the caller the one that reads; not, without wait, while somebody is.
func (c *Conn) lockRead(wait bool) bool {
	if wait {
		c.rmu.Lock()
		return true
	}
	return c.rmu.TryLock()
}

func (c *Conn) receiver(wait bool) func(uintptr) bool {
	if wait {
		return c.rwait
	}
	return c.ronce
}

// finish looks at what was received into a header and room bytes of data.
func (c *Conn) finish(h *Header, room int, control bool, err error) (n, fd int, _ error) {
	fd = -1
	switch {
	case err != nil:
		return 0, -1, err
	case c.r.errno == unix.EAGAIN:
		return 0, -1, unix.EAGAIN
	case c.r.errno != 0:
		return 0, -1, os.NewSyscallError("recvmsg", c.r.errno)
	}
	if control {
		fd = c.r.descriptor()
	}
	if c.r.msg.Flags&unix.MSG_CTRUNC != 0 {
		c.refused.Add(1)
	}
	switch n = c.r.n; {
	case n == 0:
		err = io.EOF
	case n < HeaderLen:
		err = ErrRecord
	default:
		if err = h.parse(c.r.hdr[:]); err == nil && n-HeaderLen != int(h.Len) {
			err = ErrRecord
		}
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return 0, -1, err
	}
	return min(room, int(h.Len)), fd, nil
}

// descriptor returns the one that was received, or -1.
func (m *message) descriptor() int {
	if int(m.msg.Controllen) < unix.CmsgLen(4) {
		return -1
	}
	e := binary.NativeEndian
	level, kind := e.Uint32(m.ctl[unix.SizeofCmsghdr-8:]), e.Uint32(m.ctl[unix.SizeofCmsghdr-4:])
	if level != unix.SOL_SOCKET || kind != unix.SCM_RIGHTS {
		return -1
	}
	return int(e.Uint32(m.ctl[unix.SizeofCmsghdr:]))
}

// Write waits for room and writes a record of h and data; it sets h.Len. Errors, as
// package net has them: ErrTooLong, net.ErrClosed, os.ErrDeadlineExceeded,
// syscall.EPIPE when the peer has closed.
func (c *Conn) Write(h *Header, data []byte) error { return c.write(h, data, -1, true) }

// TryWrite is Write that fails with syscall.EAGAIN rather than wait, for room or for
// another call that writes.
func (c *Conn) TryWrite(h *Header, data []byte) error { return c.write(h, data, -1, false) }

// WriteFD is Write that passes a descriptor, which stays the caller's own.
func (c *Conn) WriteFD(h *Header, data []byte, fd int) error { return c.write(h, data, fd, true) }

// TryWriteFD is WriteFD that fails with syscall.EAGAIN rather than wait.
func (c *Conn) TryWriteFD(h *Header, data []byte, fd int) error {
	return c.write(h, data, fd, false)
}

func (c *Conn) write(h *Header, data []byte, fd int, wait bool) error {
	if len(data) > MaxData {
		return ErrTooLong
	}
	fn := c.wonce
	if wait {
		fn = c.wwait
		c.wmu.Lock()
	} else if !c.wmu.TryLock() {
		return unix.EAGAIN
	}
	defer c.wmu.Unlock()
	if c.wring {
		if fd >= 0 {
			return os.NewSyscallError("ring", unix.EOPNOTSUPP)
		}
		return c.ring.Load().write(c, h, data, wait)
	}
	return c.writeSocket(h, data, fd, fn)
}

// writeSocket writes a record to the socket. The caller holds wmu.
func (c *Conn) writeSocket(h *Header, data []byte, fd int, fn func(uintptr) bool) error {
	h.Len = uint32(len(data))
	h.Put(c.w.hdr[:])
	c.w.prepare(data, fd >= 0)
	if fd >= 0 {
		c.w.attach(fd)
	}
	err := c.raw.Write(fn)
	c.w.done()
	switch {
	case err != nil:
		return err
	case c.w.errno == unix.EAGAIN:
		return unix.EAGAIN
	case c.w.errno != 0:
		return os.NewSyscallError("sendmsg", c.w.errno)
	}
	return nil
}

// attach makes fd go with the message.
func (m *message) attach(fd int) {
	e := binary.NativeEndian
	clear(m.ctl[:])
	if unix.SizeofCmsghdr == 16 {
		e.PutUint64(m.ctl[:], uint64(unix.CmsgLen(4)))
	} else {
		e.PutUint32(m.ctl[:], uint32(unix.CmsgLen(4)))
	}
	e.PutUint32(m.ctl[unix.SizeofCmsghdr-8:], unix.SOL_SOCKET)
	e.PutUint32(m.ctl[unix.SizeofCmsghdr-4:], unix.SCM_RIGHTS)
	e.PutUint32(m.ctl[unix.SizeofCmsghdr:], uint32(fd))
}

// A Buffer has the data of a record that ReadPooled has read.
type Buffer struct {
	Data []byte
	room [MaxData]byte
}

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// Release gives the Buffer back; its data is void then.
func (b *Buffer) Release() {
	b.Data = nil
	buffers.Put(b)
}

// ReadPooled is Read into a Buffer that is taken from a pool once there is something to
// read, so that a connection on which nothing comes has none. The caller releases it.
func (c *Conn) ReadPooled(h *Header) (*Buffer, error) { return c.readPooled(h, true) }

// TryReadPooled is ReadPooled that fails with syscall.EAGAIN rather than wait.
func (c *Conn) TryReadPooled(h *Header) (*Buffer, error) { return c.readPooled(h, false) }

func (c *Conn) readPooled(h *Header, wait bool) (*Buffer, error) {
	if !c.lockRead(wait) {
		return nil, unix.EAGAIN
	}
	defer c.rmu.Unlock()
	var n int
	var err error
	if c.rring {
		n, err = c.ring.Load().read(c, h, nil, c.take, wait)
	} else {
		c.pool = true
		err = c.raw.Read(c.receiver(wait))
		c.pool = false
		n, _, err = c.finish(h, MaxData, false, err)
	}
	if err != nil {
		c.untake()
		return nil, err
	}
	b := c.taken
	c.taken = nil
	c.r.done()
	b.Data = b.room[:n]
	return b, nil
}

func (c *Conn) untake() {
	c.r.done()
	if c.taken != nil {
		c.taken.Release()
		c.taken = nil
	}
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
		return c.uc.SetReadDeadline(t)
	default:
		return c.uc.SetWriteDeadline(t)
	}
}

// Close ends the connection: the peer reads what was written, then io.EOF. All waiting
// calls end with net.ErrClosed.
func (c *Conn) Close() error {
	err := c.uc.Close()
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

// SyscallConn gives access to the socket, for those who poll it.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// Credentials says who is at the other end, as the system knows it: of a connection to
// a Listener who connected, and when.
func (c *Conn) Credentials() (Credentials, error) {
	var out Credentials
	var failed error
	err := c.raw.Control(func(fd uintptr) {
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
