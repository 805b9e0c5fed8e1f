// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A program asks for a ring with OpRing, and says nothing until the answer has come.
// The answer is the last record that the daemon writes to the socket; from there on both
// write to the ring alone, and the socket carries wake-up bytes.

// ServeRing answers the OpRing h, which Read has just returned, on the daemon's end:
// with a ring of the size that h asks for, which carries all records from then on. Nobody
// else reads meanwhile. Errors: those of Write, after which the connection is of no use;
// refused tells why there is no ring, which RefuseRing is to answer.
func (c *Conn) ServeRing(h *Header) (refused, err error) {
	size, ok := RingSize(h.Arg0)
	switch {
	case !ok:
		refused = syscall.EINVAL
	case c.ring.Load() != nil:
		refused = syscall.EALREADY
	}
	var r *Ring
	fd := -1
	if refused == nil {
		if r, fd, refused = MakeRing(size); refused == nil {
			defer unix.Close(fd)
		}
	}
	if refused != nil {
		return refused, nil
	}
	reply := h.Reply(0)
	reply.Arg0 = uint32(size)
	return nil, c.useRing(r, &reply, fd)
}

// RefuseRing answers the OpRing h for which ServeRing had no ring; the connection goes on without
// one. Errors: those of Write.
func (c *Conn) RefuseRing(h *Header, refused error) error {
	reply := h.Reply(syscall.ENOMEM)
	errors.As(refused, &reply.Errno)
	return c.Write(&reply, nil)
}

// TakeRing makes the program's end use the ring that the answer h to its OpRing came
// with as fd, which becomes its own. Nobody else reads or writes meanwhile. Errors:
// what the daemon refused with, as syscall.Errno, then the connection goes on without a
// ring; ErrRing, or those of the system, EMFILE where this process had no room for the
// descriptor, after which the connection is of no use.
func (c *Conn) TakeRing(h *Header, fd int) error {
	if h.Op != OpRing || !h.IsReply() || h.Errno != 0 || fd < 0 {
		if fd >= 0 {
			unix.Close(fd)
		}
		switch {
		case h.Errno != 0:
			return h.Errno
		case fd < 0 && c.refused.Load() > 0:
			return os.NewSyscallError("recvmsg", syscall.EMFILE)
		}
		return ErrRing
	}
	r, err := MapRing(fd, int(h.Arg0))
	if err != nil {
		return err
	}
	return c.useRing(r, nil, -1)
}

// useRing makes reads and writes use r from now on; reply, if there is one, is the last
// record on the socket.
func (c *Conn) useRing(r *Ring, reply *Header, fd int) error {
	b := newWakers(r)
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if reply != nil {
		if err := c.writeSocket(reply, nil, fd, true); err != nil {
			r.unmap()
			return err
		}
	}
	c.rmu.Lock()
	defer c.rmu.Unlock()
	c.dmu.Lock()
	defer c.dmu.Unlock()
	if c.ring.Load() != nil {
		r.unmap()
		return os.NewSyscallError("ring", syscall.EALREADY)
	}
	for which, t := range c.deadlines {
		b.deadline[which] = t
		b.timed[which].Store(!t.IsZero())
	}
	c.ring.Store(b)
	c.rring, c.wring = true, true
	// A connection that was closed meanwhile is found out here: its Close has not seen
	// the ring.
	if err := errors.Join(c.s.SetReadDeadline(time.Time{}), c.s.SetWriteDeadline(time.Time{})); err != nil {
		b.shut()
		r.unmap()
		return net.ErrClosed
	}
	return nil
}

// SetSpin says for how long a call that reads looks at the ring before it sleeps; 0, the
// default: not at all, negative: for ever. Without a ring it changes nothing. It costs a
// core, and pays off where the other end does the same.
func (c *Conn) SetSpin(d time.Duration) {
	if b := c.ring.Load(); b != nil {
		b.spin.Store(int64(d))
	}
}

// HasRing reports whether records go through a ring.
func (c *Conn) HasRing() bool { return c.ring.Load() != nil }
