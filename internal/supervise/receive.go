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

// take receives from the UNIX socket as soon as there is something; 0: it is the end.
func (c *call) take(m *message, b []byte, flags int) (n, got int, err error) {
	for reset := false; ; {
		n, _, got, _, err = unix.Recvmsg(c.fd, b, nil, flags|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EAGAIN:
			if err := c.wait(unix.EPOLLIN, m.flags, unix.SO_RCVTIMEO); err != nil {
				return 0, 0, err
			}
		case err == unix.ECONNRESET && !reset: // the peer closed with something unread; what it wrote before comes first
			reset = true
		default:
			return n, got, err
		}
	}
}

// takeAll fills b, but for what the end of a stream or an error cuts off.
func (c *call) takeAll(m *message, b []byte) (n int, err error) {
	for n < len(b) {
		k, _, err := c.take(m, b[n:], 0)
		if n > 0 && err != nil {
			return n, nil
		}
		if err != nil || k == 0 {
			return n, err
		}
		n += k
	}
	return n, nil
}

// takeData receives on a connection; 0: it is the end. What cannot be stored stays, as with a kernel.
func (c *call) takeData(m *message, b []byte) (n, got int, err error) {
	if c.own.Kind != attach.KindStream {
		if part := c.part(m); part >= 0 {
			return c.takePart(m, b, part, 0)
		}
	}
	switch {
	case m.flags&unix.MSG_PEEK != 0:
	case !c.mapped(m, len(b)):
		if n, _, err = c.take(m, b, unix.MSG_PEEK); err == nil && c.keep(m, b[:n]) != nil {
			return 0, 0, unix.EFAULT
		}
	case c.own.Kind == attach.KindStream && m.flags&unix.MSG_WAITALL != 0:
		n, err = c.takeAll(m, b)
		return n, 0, err
	}
	return c.take(m, b, m.flags&unix.MSG_PEEK)
}

// receiveData receives on a connection.
func (c *call) receiveData(m *message) (n, flags int, err error) {
	b := make([]byte, min(m.total, mostAtOnce))
	n, got, err := c.takeData(m, b)
	switch {
	case err != nil:
		return 0, 0, err
	case n == 0:
		return c.receiveEnd(m)
	}
	if err := c.keep(m, b[:n]); err != nil {
		return 0, 0, err
	}
	from := attach.SocketSockaddr(c.peer.Addr)
	r := reception{names: from.Append(nil), flags: got&(unix.MSG_TRUNC|unix.MSG_EOR) | m.flags&unix.MSG_CMSG_CLOEXEC, control: controlOf(m)}
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
