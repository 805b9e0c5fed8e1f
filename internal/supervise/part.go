// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import "golang.org/x/sys/unix"

// Reads with MSG_EOR take a message in parts. What is read of it is the offset for peeking of the UNIX
// socket, which has no other use.

// part returns what was read of the next message; -1: messages are read whole.
func (c *call) part(m *message) int {
	off, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_PEEK_OFF)
	if err != nil {
		return -1
	}
	if m.flags&unix.MSG_EOR == 0 && off <= 0 {
		return -1
	}
	return max(off, 0)
}

// keepPart keeps what was read; -1: nothing.
func (c *call) keepPart(off int) {
	_ = unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_PEEK_OFF, off)
}

// takePart receives the message from off on, whose first bytes, head, are none of the program's.
func (c *call) takePart(m *message, b []byte, off, head int) (n, flags int, err error) {
	const whole = unix.MSG_EOR // the flag with which a call reads one part after the other
	off = max(off, head)
	c.keepPart(off)
	rest, _, err := c.take(m, b, unix.MSG_PEEK|unix.MSG_TRUNC)
	if err != nil || rest <= 0 {
		c.keepPart(-1)
		return rest, 0, err
	}
	n = min(rest, len(b))
	last := n == rest
	switch {
	case last && m.flags&whole != 0:
		flags = unix.MSG_EOR
	case !last && m.flags&whole == 0:
		flags = unix.MSG_TRUNC
	}
	switch {
	case m.flags&unix.MSG_PEEK != 0:
		if off == head {
			off = -1
		}
		c.keepPart(off)
	case last || m.flags&whole == 0:
		c.keepPart(-1)
		_, _, _ = unix.Recvfrom(c.fd, make([]byte, 1), unix.MSG_DONTWAIT)
	default:
		c.keepPart(off + n)
	}
	return n, flags, nil
}

// unread counts the messages that wait in a connectionless socket, and the memory that a kernel counts for
// them, in bytes.
func (c *call) unread() (count, bytes int) {
	const overhead = 768
	if c.is != messages {
		return 0, 0
	}
	was := c.part(&message{})
	defer c.keepPart(was)
	c.keepPart(0)
	for {
		h, _, err := c.takeRecord(&message{flags: unix.MSG_DONTWAIT}, unix.MSG_PEEK)
		if err != nil { // the next peek begins behind this message
			return count, bytes
		}
		count, bytes = count+1, bytes+overhead+int(h.Len)
	}
}
