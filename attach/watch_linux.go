// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Watch waits, and reads nothing, until the next record to be read is an op, or the peer
// has closed: that is io.EOF, also while there is something to be read still. It is for
// who does not read because what was read waits for room. Errors else as of Read.
func (c *Conn) Watch(op Op) error {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if c.rring {
		return c.ring.Load().watch(c, op)
	}
	seen := io.EOF
	if err := c.s.Read(func(fd uintptr) bool {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if k, err := unix.Poll(p[:], 0); k > 0 && err == nil {
			return true
		}
		var b [2]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err == nil && n == len(b) && Op(binary.NativeEndian.Uint16(b[:])) == op {
			seen = nil
			return true
		}
		return err == nil && n == 0
	}); err != nil {
		return err
	}
	return seen
}

// PeerClosed reports whether the peer has closed, also while there is something to be read
// still. It reads nothing. A Conn that is closed itself has none.
func (c *Conn) PeerClosed() (closed bool) {
	err := c.s.Control(func(fd uintptr) {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		k, err := unix.Poll(p[:], 0)
		closed = k > 0 && err == nil
	})
	return closed || err != nil
}

// watch is Watch of a ring. The caller holds rmu.
func (b *wakers) watch(c *Conn, op Op) error {
	defer func() {
		if !b.isClosed() {
			b.ring.in.disarm()
		}
	}()
	for {
		switch {
		case b.isClosed():
			return net.ErrClosed
		case b.expired(forData):
			return os.ErrDeadlineExceeded
		case b.ended.Load():
			return io.EOF
		}
		b.ring.in.arm()
		if next, ok := b.ring.in.op(); ok && next == op {
			return nil
		}
		if err := b.wait(c, forData); err != nil {
			return err
		}
	}
}
