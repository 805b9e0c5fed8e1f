// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func (c *Conn) trySend(fd uintptr) syscall.Errno {
	for {
		c.w.send(fd)
		if c.w.errno != unix.EINTR && c.w.errno != unix.ECONNRESET { // see tryReceive
			return c.w.errno
		}
	}
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
