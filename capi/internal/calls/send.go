// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"net"
	"syscall"

	"github.com/utipc/utipc/stack"
)

// Send sends b, from a socket without connection or in a group to an address; to is nil for the
// peer, the default destination, and all members. It returns how much was sent: of a stream that
// may be the beginning of b. Errors: EISCONN of a connection with to; those of package stack;
// EAGAIN, ETIMEDOUT.
func Send(h int32, b []byte, to *Addr, timeout int) (int, error) {
	s, c, err := as[endpoint](h, "send")
	if err != nil {
		return 0, err
	}
	addr, err := to.optional()
	if err != nil {
		return 0, err
	}
	if _, ok := c.(*stack.Conn); ok && addr != nil {
		return 0, failed(syscall.EISCONN, "a connection sends to its peer")
	}
	var n int
	if timeout == 0 {
		n, err = write(c, b, addr, false)
	} else {
		until := deadline(timeout)
		if err := s.sending.take(timeout, until); err != nil {
			return 0, err
		}
		defer s.sending.leave()
		err = limited(until, c.SetWriteDeadline, func() (err error) {
			n, err = write(c, b, addr, true)
			return err
		})
	}
	if n > 0 {
		err = nil // the next call says it
	}
	return n, inTime(err, timeout) // another call's deadline may be set
}

// write is the call of package stack.
func write(c endpoint, b []byte, addr net.Addr, wait bool) (int, error) {
	switch c := c.(type) {
	case *stack.Conn:
		if wait {
			return c.Write(b)
		}
		return c.TryWrite(b)
	case interface {
		Write(b []byte) (int, error)
		WriteTo(b []byte, addr net.Addr) (int, error)
		TryWriteTo(b []byte, addr net.Addr) (int, error)
	}:
		switch {
		case !wait:
			return c.TryWriteTo(b, addr)
		case addr == nil:
			return c.Write(b)
		}
		return c.WriteTo(b, addr)
	}
	return 0, syscall.EOPNOTSUPP
}

// Shutdown ends what a connection sends. Errors: of stack.Conn.CloseWrite.
func Shutdown(h int32) error {
	_, c, err := as[*stack.Conn](h, "end what it sends")
	if err != nil {
		return err
	}
	return c.CloseWrite()
}

// Bind binds a socket to one more name. Errors: of stack.PacketConn.Bind.
func Bind(h int32, name *Addr, scope int) error {
	_, c, err := as[interface {
		BindScope(addr net.Addr, scope stack.Scope) error
	}](h, "be bound")
	if err != nil {
		return err
	}
	return bound(name, scope, c.BindScope)
}

// Unbind takes a name back. Errors: of stack.PacketConn.Unbind.
func Unbind(h int32, name *Addr, scope int) error {
	_, c, err := as[interface {
		UnbindScope(addr net.Addr, scope stack.Scope) error
	}](h, "be bound")
	if err != nil {
		return err
	}
	return bound(name, scope, c.UnbindScope)
}

func bound(name *Addr, scope int, call func(net.Addr, stack.Scope) error) error {
	addr, err := name.Address()
	switch {
	case err != nil:
		return err
	case scope == 0:
		scope = int(stack.ClusterScope)
	case scope != int(stack.ClusterScope) && scope != int(stack.NodeScope):
		return failed(syscall.EINVAL, "%d is not a scope", scope)
	}
	return call(addr, stack.Scope(scope))
}

// Local is the address of a socket.
func Local(h int32) (Addr, error) {
	_, c, err := as[interface{ LocalAddr() net.Addr }](h, "have an address")
	if err != nil {
		return Addr{}, err
	}
	return AddrOf(c.LocalAddr()), nil
}

// Remote is the address of a connection's peer, or the default destination. Errors: ENOTCONN.
func Remote(h int32) (Addr, error) {
	_, c, err := as[interface{ RemoteAddr() net.Addr }](h, "have a peer")
	if err != nil {
		return Addr{}, err
	}
	a := AddrOf(c.RemoteAddr())
	if a.Kind == noAddr {
		return Addr{}, failed(syscall.ENOTCONN, "the socket has no default destination")
	}
	return a, nil
}

// WaitMembers waits until count others have joined a group. With a timeout of 0 it looks once.
func WaitMembers(h int32, count, timeout int) error {
	_, g, err := as[*stack.Group](h, "have members")
	if err != nil {
		return err
	}
	ctx, cancel := within(timeout)
	defer cancel()
	return inTime(g.WaitMembers(ctx, count), timeout)
}
