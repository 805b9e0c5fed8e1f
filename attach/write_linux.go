// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

func (c *Conn) trySend(fd uintptr, as callfault.Call) syscall.Errno {
	for {
		c.w.send(fd, as)
		switch c.w.errno {
		case unix.EINTR, unix.ECONNRESET: // see tryReceive
			continue
		case unix.EMSGSIZE: // the send buffer is smaller than the record
			if widen(fd) {
				continue
			}
		}
		return c.w.errno
	}
}

// widen makes a socket's send buffer large enough for the longest record. It reports
// false when the buffer is as large as the system allows already.
func widen(fd uintptr) (wider bool) {
	size := func() int {
		n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
		if err != nil {
			return 0
		}
		return n
	}
	before := size()
	if before >= 2*MaxRecord {
		return false
	}
	if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 2*MaxRecord) != nil { // without CAP_NET_ADMIN
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 2*MaxRecord)
	}
	return size() > before
}

// Write waits for room and writes a record of h and data; it sets h.Len. While the system
// is short of memory (ENOBUFS, ENOMEM) it tries again, at growing intervals of 1 to 16 ms.
// Errors, as package net has them, after which the record is not written: ErrTooLong,
// net.ErrClosed, os.ErrDeadlineExceeded, syscall.EPIPE when the peer has closed,
// syscall.EMSGSIZE when the system allows no send buffer of the record's length.
func (c *Conn) Write(h *Header, data []byte) error { return c.write(h, data, -1, true) }

// WriteLast is Write of the last record: every call that writes after it fails with
// net.ErrClosed, so that the peer has read whatever a call reported as written when it reads
// this.
func (c *Conn) WriteLast(h *Header, data []byte) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.last {
		return net.ErrClosed
	}
	c.last = true
	return c.writeLocked(h, data, -1, true)
}

// TryWrite is Write that fails with syscall.EAGAIN rather than wait: for room, for the
// system's memory, or for another call that writes.
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
	if wait {
		c.wmu.Lock()
	} else if callfault.Answer(callfault.LockWrite) != 0 || !c.wmu.TryLock() {
		return unix.EAGAIN
	}
	defer c.wmu.Unlock()
	if c.last {
		return net.ErrClosed
	}
	return c.writeLocked(h, data, fd, wait)
}

func (c *Conn) writeLocked(h *Header, data []byte, fd int, wait bool) error {
	if c.wring {
		if fd >= 0 {
			return os.NewSyscallError("ring", unix.EOPNOTSUPP)
		}
		return c.ring.Load().write(c, h, data, wait)
	}
	return c.writeSocket(h, data, fd, wait)
}

// writeSocket writes a record to the socket. The caller holds wmu. A waiting call also
// waits for the system's memory, of which no event of the socket tells.
func (c *Conn) writeSocket(h *Header, data []byte, fd int, wait bool) error {
	fn := c.wonce
	if wait {
		fn = c.wwait
	}
	h.Len = uint32(len(data))
	h.Put(c.w.hdr[:])
	c.w.prepare(data, fd >= 0)
	if fd >= 0 {
		c.w.attach(fd)
	}
	err := c.s.Write(fn)
	for pause := memoryPause; wait && err == nil && shortOfMemory(c.w.errno); pause = min(2*pause, longMemoryPause) {
		time.Sleep(pause)
		err = c.s.Write(fn)
	}
	c.w.done()
	switch {
	case err != nil:
		return err
	case c.w.errno == unix.EAGAIN, shortOfMemory(c.w.errno):
		return unix.EAGAIN
	case c.w.errno != 0:
		return os.NewSyscallError("sendmsg", c.w.errno)
	}
	return nil
}

// Pauses of a call that the system has no memory for.
const (
	memoryPause     = time.Millisecond
	longMemoryPause = 16 * time.Millisecond
)

// shortOfMemory reports whether the system refused a record for want of memory, or for too
// many descriptors under way: that passes, and nothing tells when.
func shortOfMemory(e syscall.Errno) bool {
	return e == unix.ENOBUFS || e == unix.ENOMEM || e == unix.ETOOMANYREFS
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
