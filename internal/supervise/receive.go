// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"context"
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// passed are the flags of a call that the UNIX socket has as TIPC has them.
const passed = unix.MSG_PEEK

// receiveCall is recvfrom or recvmsg.
func (c *call) receiveCall() result {
	m, err := c.message()
	if err != nil {
		return failed(err)
	}
	n, _, err := c.receive(&m)
	if err != nil {
		return failed(err)
	}
	return returned(n)
}

// receive receives a message, or of a stream what there is. It returns its length and its flags.
func (c *call) receive(m *message) (n, flags int, err error) {
	if m.total == 0 {
		return 0, 0, unix.EINVAL
	}
	for c.is == unconnected {
		a, err := c.about(attach.Header{Op: attach.OpPlainState})
		switch {
		case err != nil:
			return 0, 0, err
		case a.Arg0 == stateOpen:
			return 0, 0, unix.ENOTCONN
		case a.Arg0 == stateEnded && a.Arg1 != 0:
			return 0, 0, syscall.Errno(a.Arg1)
		case a.Arg0 != stateEnded: // until there is a connection, and something comes
			if err := c.wait(unix.EPOLLIN, m.flags, unix.SO_RCVTIMEO); err != nil {
				return 0, 0, err
			}
		}
		if c.look(); c.is == unconnected && c.hungUp() {
			return c.receiveEnd(m)
		}
	}
	if c.is == messages {
		return c.receiveMessage(m)
	}
	return c.receiveData(m)
}

// take receives from the UNIX socket as soon as there is something.
func (c *call) take(m *message, b []byte, flags int) (n, got int, err error) {
	for {
		n, _, got, _, err = unix.Recvmsg(c.fd, b, nil, flags|unix.MSG_DONTWAIT)
		if err == unix.EAGAIN {
			err = c.wait(unix.EPOLLIN, m.flags, unix.SO_RCVTIMEO)
			if err == nil {
				continue
			}
		}
		if err != unix.EINTR || c.ctx.Err() != nil {
			return n, got, err
		}
	}
}

// receiveData receives on a connection.
func (c *call) receiveData(m *message) (n, flags int, err error) {
	b := make([]byte, min(m.total, mostAtOnce))
	stream := c.own.Kind == attach.KindStream
	part := -1
	if !stream {
		part = c.part(m)
	}
	all := stream && m.flags&unix.MSG_WAITALL != 0 && m.flags&unix.MSG_PEEK == 0
	peeked := part < 0 && !all && m.flags&unix.MSG_PEEK == 0 && !c.mapped(m, len(b))
	r := reception{flags: m.flags & unix.MSG_CMSG_CLOEXEC}
	for {
		var k, got int
		switch {
		case part >= 0:
			k, got, err = c.takePart(m, b, part, 0)
		case peeked: // what cannot be stored stays, as with a kernel
			if k, got, err = c.take(m, b, passed); err == nil && k > 0 && c.keep(m, b[:k]) != nil {
				return 0, 0, unix.EFAULT
			}
			if err == nil && k > 0 {
				k, got, err = c.take(m, b, 0)
			}
		default:
			k, got, err = c.take(m, b[n:], m.flags&passed)
		}
		switch {
		case err == nil && k > 0:
			r.flags |= got & (unix.MSG_TRUNC | unix.MSG_EOR)
			if n += k; all && n < len(b) {
				continue
			}
		case n > 0:
		case err == nil:
			return c.receiveEnd(m)
		case err == unix.ECONNRESET: // the peer closed with something unread; what it wrote before comes first
			if k, got, err = c.take(m, b, m.flags&passed); err != nil || k <= 0 {
				return c.receiveEnd(m)
			}
			n, r.flags = k, r.flags|got&(unix.MSG_TRUNC|unix.MSG_EOR)
		default:
			return 0, 0, err
		}
		break
	}
	if err := c.keep(m, b[:n]); err != nil {
		return 0, 0, err
	}
	from := attach.SocketSockaddr(c.peer.Addr)
	r.names, r.control = from.Append(nil), controlOf(m)
	if m.control != 0 && (c.peer.Named || c.own.Named) {
		s := c.own.Service
		if c.peer.Named {
			s = c.peer.Service
		}
		r.control.putWords(destName, s.Type, s.Instance, s.Instance)
	}
	return n, r.flags, c.finish(m, &r)
}

// Of OpPlainState, in Arg0: a read takes the end of a connection, of a reset only with room for ancillary data.
const (
	endRead    = 1
	endControl = 2
)

// connShutdown is TIPC_CONN_SHUTDOWN.
const connShutdown = 5

// receiveEnd is what a call comes to on a connection that has ended.
func (c *call) receiveEnd(m *message) (n, flags int, err error) {
	h := attach.Header{Op: attach.OpPlainState}
	switch {
	case m.flags&unix.MSG_PEEK != 0:
	case m.controlled():
		h.Arg0 = endControl
	default:
		h.Arg0 = endRead
	}
	a, err := c.about(h)
	const taken = 1 << 32
	code := uint32(a.Wide)
	var r reception
	switch {
	case err != nil:
		return 0, 0, gone(err)
	case a.Arg0 != stateEnded:
		return 0, 0, c.finish(m, &r)
	case a.Arg1 != 0 && syscall.Errno(a.Arg1) != unix.ECONNRESET:
		return 0, 0, syscall.Errno(a.Arg1)
	case code == 0 && !m.waits(c): // it was shut down here
		return 0, 0, unix.EAGAIN
	case code == 0:
		return 0, 0, unix.ENOTCONN
	case a.Wide&taken != 0: // as with a kernel, the end is read once; a call that waits has it again
		if err := c.waitEnd(m); err != nil {
			return 0, 0, err
		}
		return 0, 0, c.finish(m, &r)
	case code != connShutdown && !m.controlled():
		return 0, 0, unix.ECONNRESET
	}
	r.control = controlOf(m)
	c.putEnd(&r.control, code, a.data)
	from := a.Addr2
	if c.is == connected {
		from = attach.SocketSockaddr(c.peer.Addr)
	}
	if !from.IsZero() {
		r.names = from.Append(nil)
	}
	return 0, 0, c.finish(m, &r)
}

// putEnd adds why a connection ended, and what came back: the range that it was sent to, in the order of
// bytes of the network, then data.
func (c *call) putEnd(to *control, code uint32, back []byte) {
	const named = 12
	data := back[min(len(back), named):]
	to.putWords(errInfo, code, uint32(len(data)))
	if len(data) == 0 {
		return
	}
	to.put(retData, data)
	word := func(i int) uint32 { return binary.BigEndian.Uint32(back[4*i:]) }
	if word(0) != 0 {
		to.putWords(destName, word(0), word(1), word(2))
	}
}

// waitEnd waits at the end of a connection that was read, for as long as SO_RCVTIMEO says, without that not at
// all.
func (c *call) waitEnd(m *message) error {
	if !m.waits(c) {
		return unix.EAGAIN
	}
	limit := c.limit(unix.SO_RCVTIMEO)
	if limit == 0 {
		return nil
	}
	c.watchThread()
	ctx, stop := context.WithTimeout(c.ctx, limit)
	defer stop()
	if <-ctx.Done(); c.ctx.Err() != nil {
		return unix.EINTR
	}
	return unix.EAGAIN
}
