// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// mostAtOnce is how much of a stream one call sends or receives in the supervisor, in bytes.
const mostAtOnce = 1 << 20

// sendCall is sendto or sendmsg. What a kernel would do with the UNIX socket as with TIPC's is its own.
func (c *call) sendCall() result {
	m, err := c.message()
	if err != nil {
		return failed(err)
	}
	const plain = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	if c.is == connected && m.total > 0 && m.name == 0 && m.control == 0 && m.flags&^plain == 0 && !c.tooLong(&m) && !c.hungUp() {
		return byKernel
	}
	n, err := c.send(&m)
	if err != nil {
		return failed(err)
	}
	return returned(n)
}

// tooLong reports whether a message is longer than its kind of socket sends.
func (c *call) tooLong(m *message) bool {
	return c.own.Kind != attach.KindStream && m.total > attach.MaxData
}

// send sends a message, and returns the length of what was sent.
func (c *call) send(m *message) (int, error) {
	switch {
	case c.tooLong(m):
		return 0, unix.EMSGSIZE
	case c.is == messages:
		return c.sendMessage(m)
	case c.is == unconnected:
		return c.sendUnconnected(m)
	case c.hungUp():
		return 0, unix.EPIPE
	}
	b, err := c.data(m, mostAtOnce)
	if err != nil || len(b) == 0 { // TIPC delivers no empty one
		return 0, err
	}
	for {
		n, err := unix.SendmsgN(c.fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch err {
		case nil:
			return n, nil
		case unix.EAGAIN:
			if err := c.wait(unix.EPOLLOUT, m.flags, unix.SO_SNDTIMEO); err != nil {
				return 0, err
			}
		default:
			return 0, unix.EPIPE
		}
	}
}

// asLong has a request wait as long as the call.
func (c *call) asLong(m *message, h *attach.Header) {
	if m.waits(c) {
		h.Wide = uint64(c.limit(unix.SO_SNDTIMEO))
	} else {
		h.Arg0 = 1
	}
}

// sendMessage sends a datagram.
func (c *call) sendMessage(m *message) (int, error) {
	h := attach.Header{Op: attach.OpPlainSend}
	var err error
	if m.name != 0 {
		if h.Addr, err = c.address(m.name, m.nameLength); err != nil {
			return 0, err
		}
	}
	b, err := c.data(m, attach.MaxData)
	if err != nil {
		return 0, err
	}
	c.asLong(m, &h)
	if _, err := c.ask(h, b, c.fd); err != nil {
		return 0, gone(err)
	}
	return len(b), nil
}

// gone maps the error of a request of another daemon, or of none.
func gone(err error) error {
	if err == unix.ENOTSOCK || err == unix.EAFNOSUPPORT {
		return unix.ENETDOWN
	}
	return err
}

// sendUnconnected connects by a first message, as TIPC does where a send has an address.
func (c *call) sendUnconnected(m *message) (int, error) {
	if c.hungUp() {
		return 0, unix.EPIPE
	}
	a, err := c.about(attach.Header{Op: attach.OpPlainState})
	switch {
	case err != nil:
		return 0, err
	case a.Arg0 == stateEnded:
		return 0, unix.EPIPE
	case a.Arg0 != stateOpen || m.name == 0:
		return 0, unix.ENOTCONN
	}
	h := attach.Header{Op: attach.OpPlainConnect}
	if h.Addr, err = c.address(m.name, m.nameLength); err != nil {
		return 0, err
	}
	if m.total > attach.MaxData {
		return 0, unix.EMSGSIZE
	}
	b, err := c.data(m, attach.MaxData)
	if err != nil {
		return 0, err
	}
	const follows = 2
	c.asLong(m, &h)
	h.Arg1 = c.raiseBarrier()
	if len(b) > 0 {
		if n, _ := unix.SendmsgN(c.fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); n == len(b) {
			h.Arg0 |= follows
		}
	}
	switch _, err := c.ask(h, b, c.fd); err {
	case nil, unix.EINPROGRESS, unix.ETIMEDOUT: // the message is under way
		return len(b), nil
	case unix.ECONNREFUSED:
		_, _ = c.about(attach.Header{Op: attach.OpPlainState}) // SO_ERROR is 0
		return len(b), nil
	default:
		return 0, err
	}
}
