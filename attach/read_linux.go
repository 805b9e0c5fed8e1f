// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/callfault"
)

func (c *Conn) tryReceive(fd uintptr, as callfault.Call) syscall.Errno {
	if c.pool {
		c.r.prepare(c.take(), false)
	}
	for {
		c.r.receive(fd, as)
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
	err = c.s.Read(c.receiver(wait))
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
	return callfault.Answer(callfault.LockRead) == 0 && c.rmu.TryLock()
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
		err = c.s.Read(c.receiver(wait))
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
