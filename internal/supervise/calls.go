// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package supervise

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
)

// States of a socket, as OpPlainState reports them.
const (
	stateOpen      = 0
	stateListening = 1
	stateEnded     = 4
)

// barrier is how many bytes are written to a descriptor so that it is not writable.
const barrier = 56000

// serve carries the call out.
func (c *call) serve() result {
	switch c.n.Call {
	case unix.SYS_SOCKET:
		return c.socket()
	case unix.SYS_SOCKETPAIR:
		return c.socketpair()
	}
	switch err := c.open(); {
	case err == nil:
	case shortage(err):
		return failed(unix.ENOBUFS) // it may be a plain socket, from which a kernel would lose what is sent
	default:
		return byKernel
	}
	if c.look(); c.is == foreign {
		return byKernel
	}
	switch c.n.Call {
	case unix.SYS_BIND:
		return c.bind()
	case unix.SYS_LISTEN:
		return c.listen()
	case unix.SYS_ACCEPT:
		return c.accept(0)
	case unix.SYS_ACCEPT4:
		return c.accept(c.number(3))
	case unix.SYS_CONNECT:
		return c.connect()
	case unix.SYS_GETSOCKNAME:
		return c.given(attach.SocketSockaddr(c.own.Addr))
	case unix.SYS_GETPEERNAME:
		return c.getpeername()
	case unix.SYS_GETSOCKOPT:
		return c.getOption()
	case unix.SYS_SETSOCKOPT:
		return c.setOption()
	case unix.SYS_SHUTDOWN:
		return c.shutdown()
	case unix.SYS_SENDTO, unix.SYS_SENDMSG:
		return c.sendCall()
	case unix.SYS_SENDMMSG:
		return c.sendSeveral()
	case unix.SYS_RECVFROM, unix.SYS_RECVMSG:
		return c.receiveCall()
	case unix.SYS_RECVMMSG:
		return c.receiveSeveral()
	case unix.SYS_IOCTL:
		return c.ioctl()
	}
	return byKernel
}

// withFlags hands a new socket to the program, with the flags of socket(2) or accept4(2).
func withFlags(fd, flags int) result {
	if flags&unix.SOCK_NONBLOCK != 0 {
		if err := unix.SetNonblock(fd, true); err != nil {
			unix.Close(fd)
			return failed(err)
		}
	}
	return opened(fd, flags)
}

// make makes a socket. Its type and protocol are arguments of the call.
func (c *call) make() (fd int, err error) {
	const types, mask = 11, 15
	switch kind := c.number(1) &^ (unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK); {
	case kind&^mask != 0 || kind >= types:
		return -1, unix.EINVAL
	case c.number(2) != 0:
		return -1, unix.EPROTONOSUPPORT
	default:
		a, err := c.ask(attach.Header{Op: attach.OpPlainSocket, Arg0: uint32(kind)}, nil, -1)
		c.sealMessages(a.fd, attach.Kind(kind))
		return a.fd, err
	}
}

// sealMessages has write(2) on a connectionless socket fail with EPIPE: what it would write to the
// UNIX socket is no request, and would be lost.
func (c *call) sealMessages(fd int, kind attach.Kind) {
	if fd >= 0 && !kind.Connected() {
		_ = unix.Shutdown(fd, unix.SHUT_WR)
	}
}

func (c *call) socket() result {
	fd, err := c.make()
	if err != nil {
		return failed(err)
	}
	return withFlags(fd, c.number(1))
}

func (c *call) socketpair() result {
	first, err := c.make()
	if err != nil {
		return failed(err)
	}
	defer unix.Close(first)
	a, err := c.ask(attach.Header{Op: attach.OpPlainPair}, nil, first)
	if err != nil {
		return failed(err)
	}
	defer unix.Close(a.fd)
	c.sealMessages(a.fd, attach.Kind(c.number(1)&^(unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)))
	var b []byte
	for _, fd := range []int{first, a.fd} {
		if c.number(1)&unix.SOCK_NONBLOCK != 0 {
			if err := unix.SetNonblock(fd, true); err != nil {
				return failed(err)
			}
		}
		d := descriptor{ID: c.n.ID, Source: uint32(fd), NewFlags: uint32(c.number(1) & unix.O_CLOEXEC)}
		number, err := c.s.l.give(&d)
		if err != nil {
			return failed(err)
		}
		b = binary.NativeEndian.AppendUint32(b, uint32(number))
	}
	if err := c.store(c.n.Args[3], b); err != nil {
		return failed(err)
	}
	return returned(0)
}

func (c *call) bind() result {
	h := attach.Header{Op: attach.OpPlainBind}
	if length := c.number(2); length > 0 { // 0: all names are taken back
		var err error
		if h.Addr, err = c.address(c.n.Args[1], length); err != nil {
			return failed(err)
		}
	}
	return c.done(h, nil)
}

// raiseBarrier keeps the descriptor from being writable, and returns the length of what it wrote.
func (c *call) raiseBarrier() uint32 {
	n, _ := unix.SendmsgN(c.fd, make([]byte, barrier), nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	return uint32(max(n, 0))
}

func (c *call) listen() result {
	r := c.done(attach.Header{Op: attach.OpPlainListen}, nil)
	if r.err == nil {
		c.raiseBarrier()
	}
	return r
}

func (c *call) connect() result {
	at, length := c.n.Args[1], c.number(2)
	h := attach.Header{Op: attach.OpPlainConnect}
	switch c.is {
	case connected:
		if _, err := c.address(at, length); err != nil {
			return failed(err)
		}
		if c.hungUp() {
			return failed(unix.EINVAL)
		}
		return failed(unix.EISCONN)
	case messages:
		var family [2]byte
		if at != 0 && length == attach.SockaddrLen && c.load(at, family[:]) == nil && binary.NativeEndian.Uint16(family[:]) == unix.AF_UNSPEC {
			return c.done(h, nil)
		}
		if length != attach.SockaddrLen {
			return failed(unix.EINVAL)
		}
	}
	var err error
	if h.Addr, err = c.address(at, length); err != nil {
		return failed(err)
	}
	a, err := c.about(attach.Header{Op: attach.OpPlainState})
	if err != nil {
		return failed(err)
	}
	if a.Arg0 == stateOpen && c.is == unconnected {
		h.Arg1 = c.raiseBarrier()
	}
	if c.nonblocking() {
		h.Arg0 = 1
	}
	return c.done(h, nil)
}

// ticket takes one out of a listening socket. Errors: EAGAIN; EINVAL, it does not listen.
func (c *call) ticket() (*attach.Conn, error) {
	control := make([]byte, unix.CmsgLen(4)) // of one descriptor, and no more: a program may send itself others
	_, k, _, _, err := unix.Recvmsg(c.fd, make([]byte, 1), control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	all, err := unix.ParseSocketControlMessage(control[:k])
	if err != nil || len(all) != 1 {
		return nil, unix.EINVAL
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil || len(fds) != 1 {
		return nil, unix.EINVAL
	}
	return attach.NewConn(fds[0])
}

func (c *call) accept(flags int) result {
	switch c.is {
	case connected:
		return failed(unix.EINVAL)
	case messages:
		return failed(unix.EOPNOTSUPP)
	}
	for {
		t, err := c.ticket()
		if err == unix.EAGAIN {
			if a, err := c.about(attach.Header{Op: attach.OpPlainState}); err != nil || a.Arg0 != stateListening {
				return failed(unix.EINVAL)
			}
			if err := c.wait(unix.EPOLLIN, 0, unix.SO_RCVTIMEO); err != nil {
				return failed(err)
			}
			continue
		}
		if err != nil {
			return failed(err)
		}
		a, err := c.askOn(t, attach.Header{Op: attach.OpPlainAccept}, nil, -1)
		t.Close()
		if err == unix.EAGAIN { // the request is gone
			continue
		}
		if err != nil {
			return failed(err)
		}
		if err := c.giveAddress(a.Addr, c.n.Args[1], c.n.Args[2]); err != nil {
			unix.Close(a.fd)
			return failed(err)
		}
		return withFlags(a.fd, flags)
	}
}

// given is the result of a call that asks for an address.
func (c *call) given(a attach.Sockaddr) result {
	if err := c.giveAddress(a, c.n.Args[1], c.n.Args[2]); err != nil {
		return failed(err)
	}
	return returned(0)
}

func (c *call) getpeername() result {
	switch c.is {
	case connected:
		if !c.hungUp() {
			return c.given(attach.SocketSockaddr(c.peer.Addr))
		}
	case messages:
		if a, err := c.about(attach.Header{Op: attach.OpPlainState}); err == nil && !a.Addr2.IsZero() {
			return c.given(a.Addr2)
		}
	}
	return failed(unix.ENOTCONN)
}

func (c *call) shutdown() result {
	if c.number(1) != unix.SHUT_RDWR {
		return failed(unix.EINVAL)
	}
	r := c.done(attach.Header{Op: attach.OpPlainShutdown}, nil)
	switch {
	case r.err == nil:
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
	case r.err != unix.ENOTCONN || c.is != messages:
		return r
	}
	for unread := make([]byte, 4096); ; { // it goes, in either case
		if n, _, err := unix.Recvfrom(c.fd, unread, unix.MSG_DONTWAIT); err != nil || n <= 0 {
			return r
		}
	}
}
