// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// mostAtOnce is how much of a stream one call sends or receives in the supervisor.
const mostAtOnce = 1 << 20

// send sends a message. Of a connection the kernel does it, if there is no address.
func (c *call) send() result {
	m, err := c.arguments()
	if err != nil {
		return failed(err)
	}
	if c.is != messages && c.own.Kind != attach.KindStream && m.total > attach.MaxData {
		return failed(unix.EMSGSIZE)
	}
	switch c.is {
	case messages:
		return c.sendMessage(&m)
	case unconnected:
		return c.sendUnconnected(&m)
	}
	switch {
	case c.hungUp():
		return failed(unix.EPIPE)
	case m.total == 0: // TIPC delivers none
		return returned(0)
	case m.name == 0:
		return byKernel
	}
	b, err := c.data(&m, mostAtOnce)
	if err != nil {
		return failed(err)
	}
	for {
		n, err := unix.SendmsgN(c.fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch err {
		case nil:
			return returned(n)
		case unix.EAGAIN:
			if err := c.wait(unix.POLLOUT, m.flags, unix.SO_SNDTIMEO); err != nil {
				return failed(err)
			}
		default:
			return failed(unix.EPIPE)
		}
	}
}

// sendMessage sends a datagram.
func (c *call) sendMessage(m *message) result {
	if m.total > attach.MaxData {
		return failed(unix.EMSGSIZE)
	}
	h := attach.Header{Op: attach.OpPlainSend}
	var err error
	if m.name != 0 {
		if h.Addr, err = c.address(m.name, m.nameLength); err != nil {
			return failed(err)
		}
	}
	if m.flags&unix.MSG_DONTWAIT != 0 || c.nonblocking() {
		h.Arg0 = 1
	} else {
		h.Wide = uint64(c.limit(unix.SO_SNDTIMEO))
	}
	b, err := c.data(m, attach.MaxData)
	if err != nil {
		return failed(err)
	}
	if r := c.done(h, b); r.err != nil {
		return r
	}
	return returned(len(b))
}

// sendUnconnected connects by a first message, as TIPC does where a send has an address.
func (c *call) sendUnconnected(m *message) result {
	if c.hungUp() {
		return failed(unix.EPIPE)
	}
	a, err := c.about(attach.Header{Op: attach.OpPlainState})
	switch {
	case err != nil:
		return failed(err)
	case a.Arg0 == stateEnded:
		return failed(unix.EPIPE)
	case a.Arg0 != stateOpen || m.name == 0:
		return failed(unix.ENOTCONN)
	case m.total > attach.MaxData:
		return failed(unix.EMSGSIZE)
	}
	h := attach.Header{Op: attach.OpPlainConnect}
	if h.Addr, err = c.address(m.name, m.nameLength); err != nil {
		return failed(err)
	}
	b, err := c.data(m, attach.MaxData)
	if err != nil {
		return failed(err)
	}
	if m.flags&unix.MSG_DONTWAIT != 0 || c.nonblocking() {
		h.Arg0 = 1
	} else {
		h.Wide = uint64(c.limit(unix.SO_SNDTIMEO))
	}
	h.Arg1 = c.raiseBarrier()
	switch r := c.done(h, b); r.err {
	case nil, unix.EINPROGRESS, unix.ETIMEDOUT, unix.ECONNREFUSED: // the message is under way
		return returned(len(b))
	default:
		return r
	}
}

// receive receives a message, or of a stream what there is.
func (c *call) receive() result {
	m, err := c.arguments()
	switch {
	case err != nil:
		return failed(err)
	case m.total == 0:
		return failed(unix.EINVAL)
	case c.is == messages:
		return c.receiveMessage(&m)
	}
	if c.is == unconnected {
		a, err := c.about(attach.Header{Op: attach.OpPlainState})
		switch {
		case err != nil:
			return failed(err)
		case a.Arg0 == stateOpen:
			return failed(unix.ENOTCONN)
		case a.Arg0 == stateEnded && a.Arg1 != 0:
			return failed(syscall.Errno(a.Arg1))
		case a.Arg0 != stateEnded: // until there is a connection, and something comes
			if err := c.wait(unix.POLLIN, m.flags, unix.SO_RCVTIMEO); err != nil {
				return failed(err)
			}
		}
		if c.look(); c.is == unconnected {
			return c.receiveEnd(&m)
		}
	}
	return c.receiveData(&m)
}

// receiveData receives on a connection.
func (c *call) receiveData(m *message) result {
	b := make([]byte, min(m.total, mostAtOnce))
	all := m.flags&unix.MSG_WAITALL != 0 && m.flags&unix.MSG_PEEK == 0 && c.own.Kind == attach.KindStream
	for n := 0; ; {
		k, _, got, _, err := unix.Recvmsg(c.fd, b[n:], nil, m.flags&unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err == unix.EAGAIN {
			if err = c.wait(unix.POLLIN, m.flags, unix.SO_RCVTIMEO); err == nil {
				continue
			}
		}
		switch {
		case err == nil && k > 0:
			if n += k; all && n < len(b) {
				continue
			}
		case n > 0:
		case err == nil, err == unix.ECONNRESET:
			return c.receiveEnd(m)
		default:
			return failed(err)
		}
		if err := c.keep(m, b[:n]); err != nil {
			return failed(err)
		}
		from := attach.SocketSockaddr(c.peer.Addr)
		if err := c.finish(m, from.Append(nil), got&(unix.MSG_TRUNC|unix.MSG_EOR)); err != nil {
			return failed(err)
		}
		return returned(n)
	}
}

// receiveEnd is what a call comes to on a connection that has ended.
func (c *call) receiveEnd(m *message) result {
	h := attach.Header{Op: attach.OpPlainState}
	if m.flags&unix.MSG_PEEK == 0 {
		h.Arg0 = 1
	}
	a, err := c.about(h)
	const taken = 1 << 32
	code := uint32(a.Wide)
	switch {
	case err == unix.ENOTSOCK || err == unix.EAFNOSUPPORT: // another daemon, or none
		return failed(unix.ENETDOWN)
	case err != nil:
		return failed(err)
	case a.Arg0 != stateEnded:
	case a.Arg1 != 0 && syscall.Errno(a.Arg1) != unix.ECONNRESET:
		return failed(syscall.Errno(a.Arg1))
	case code == 0 && (m.flags&unix.MSG_DONTWAIT != 0 || c.nonblocking()): // it was shut down here
		return failed(unix.EAGAIN)
	case code == 0:
		return failed(unix.ENOTCONN)
	case a.Wide&taken != 0 && (m.flags&unix.MSG_DONTWAIT != 0 || c.nonblocking()): // as with a kernel, the end is read once
		return failed(unix.EAGAIN)
	case a.Wide&taken == 0 && code != connShutdown:
		return failed(unix.ECONNRESET)
	}
	if err := c.finish(m, nil, 0); err != nil {
		return failed(err)
	}
	return returned(0)
}

// connShutdown is TIPC_CONN_SHUTDOWN.
const connShutdown = 5

// Events of a group, in the upper bytes of Arg0 of a message.
const (
	memberJoined = 1
	memberLeft   = 2
)

// receiveMessage receives a datagram. One that came back is an empty one.
func (c *call) receiveMessage(m *message) result {
	b := make([]byte, attach.MaxRecord)
	for {
		k, _, _, _, err := unix.Recvmsg(c.fd, b, nil, m.flags&unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err == unix.EAGAIN {
			if err = c.wait(unix.POLLIN, m.flags, unix.SO_RCVTIMEO); err == nil {
				continue
			}
		}
		if err == unix.ECONNRESET {
			err = unix.ENETDOWN
		}
		if err != nil {
			return failed(err)
		}
		h, data, err := attach.ParseRecord(b[:k])
		if err != nil { // the daemon has ended
			return failed(unix.ENETDOWN)
		}
		names, flags := h.Addr.Append(nil), 0
		if h.Arg1 != 0 {
			data = nil
		} else if h.Addr2.Type == attach.TypeService {
			names = h.Addr2.Append(names)
			switch h.Arg0 >> 8 {
			case memberJoined:
				flags |= unix.MSG_OOB
			case memberLeft:
				flags |= unix.MSG_OOB | unix.MSG_EOR
			}
		}
		if len(data) > m.total {
			data = data[:m.total]
			flags |= unix.MSG_TRUNC
		}
		if err := c.keep(m, data); err != nil {
			return failed(err)
		}
		if err := c.finish(m, names, flags); err != nil {
			return failed(err)
		}
		return returned(len(data))
	}
}
