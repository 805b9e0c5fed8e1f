// SPDX-License-Identifier: Apache-2.0

//go:build linux

package calls

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// A Socket is a socket or a subscription that a program has opened.
type Socket struct {
	node  *Node
	typ   int       // SOCK_STREAM and so on; 0 of a subscription
	what  string    // for sentences
	inner io.Closer // of package stack
	in    source
	ahead int // bytes to read ahead

	receiving turn // guards the read deadline and what follows
	closed    bool
	fd        *descriptor

	sending turn // guards the write deadline
}

func (s *Socket) of() *Node      { return s.node }
func (s *Socket) String() string { return s.what }

// newSocket gives what package stack has opened a handle.
func newSocket(n *Node, typ int, inner io.Closer, err error) (int32, error) {
	if err != nil {
		return 0, err
	}
	s := &Socket{node: n, typ: typ, inner: inner, receiving: newTurn(), sending: newTurn()}
	switch c := inner.(type) {
	case *stack.PacketConn:
		s.what, s.in, s.ahead = "a socket without connection", messages{c}, maxData
	case *stack.Group:
		s.what, s.in, s.ahead = "a member of a group", messages{c}, maxData
	case *stack.Conn:
		s.what, s.in, s.ahead = "a connection", data{c, typ == syscall.SOCK_STREAM, AddrOf(c.RemoteAddr())}, maxData
	case *stack.Listener:
		s.what, s.in = "a listener", requests{c}
	case *stack.Subscription:
		s.what, s.in = "a subscription", &changes{Subscription: c}
	}
	return add(s)
}

// An endpoint is a socket that data goes to and comes from.
type endpoint interface {
	LocalAddr() net.Addr
	SetWriteDeadline(t time.Time) error
}

// as is the socket of a handle, and what of package stack it is. Errors: as of find, and
// EOPNOTSUPP where it is none of T.
func as[T any](h int32, call string) (*Socket, T, error) {
	s, err := find[*Socket](h)
	if err != nil {
		var none T
		return nil, none, err
	}
	t, ok := s.inner.(T)
	if !ok {
		err = failed(syscall.EOPNOTSUPP, "%s cannot %s", s.what, call)
	}
	return s, t, err
}

// close ends the socket: its calls that wait, the goroutine that reads ahead, and the descriptor.
func (s *Socket) close(timeout int) error {
	var err error
	if c, ok := s.inner.(*stack.Conn); ok && timeout != 0 {
		ctx, cancel := within(timeout)
		defer cancel()
		err = c.CloseWait(ctx)
	} else {
		err = s.inner.Close()
	}
	s.receiving.take(-1, time.Time{})
	defer s.receiving.leave()
	s.closed = true
	if s.fd != nil {
		s.fd.close()
	}
	return err
}

// receive gives the next item of a socket of which T is one.
func receive[T any](h int32, call string, b []byte, timeout int) (*Socket, item, error) {
	s, _, err := as[T](h, call)
	if err != nil {
		return nil, item{}, err
	}
	until := deadline(timeout)
	if err := s.receiving.take(timeout, until); err != nil {
		return nil, item{}, err
	}
	defer s.receiving.leave()
	var it item
	switch {
	case s.closed:
		err = net.ErrClosed
	case s.fd != nil:
		it, err = s.fd.take(b, timeout, until)
	case timeout == 0:
		it, err = s.in.receive(b, false)
		if errors.Is(err, errors.ErrUnsupported) { // the goroutine waits for what can only be waited for
			if err = s.describe(); err == nil {
				it, err = s.fd.take(b, timeout, until)
			}
		}
	default:
		err = limited(until, s.in.SetReadDeadline, func() (err error) {
			it, err = s.in.receive(b, true)
			return err
		})
	}
	return s, it, err
}

// limited makes a call with a deadline, if there is one, and leaves none behind.
func limited(until time.Time, set func(time.Time) error, call func() error) error {
	if until.IsZero() {
		return call()
	}
	if err := set(until); err != nil {
		return err
	}
	defer set(time.Time{})
	return call()
}

// Receive copies what comes next into b. Errors: io.EOF after the end of a connection; those
// of package stack; EAGAIN, ETIMEDOUT.
func Receive(h int32, b []byte, timeout int) (int, Info, error) {
	_, it, err := receive[endpoint](h, "receive", b, timeout)
	return it.n, it.info, err
}

// Next gives the next event of a subscription. Errors as of Receive.
func Next(h int32, timeout int) (Event, error) {
	_, it, err := receive[*stack.Subscription](h, "have events", nil, timeout)
	return it.event, err
}

// Accept takes a connection. Errors as of Receive.
func Accept(h int32, timeout int) (int32, error) {
	s, it, err := receive[*stack.Listener](h, "accept", nil, timeout)
	if err != nil {
		return 0, err
	}
	return newSocket(s.node, s.typ, it.conn, nil)
}

// FD is the descriptor of a socket, which it makes when it is first asked for. Errors: EBUSY
// while another call receives; EOPNOTSUPP of a node; those of eventfd(2).
func FD(h int32) (int, error) {
	s, err := find[*Socket](h)
	if err != nil {
		return 0, err
	}
	if s.receiving.take(0, time.Time{}) != nil {
		return 0, failed(syscall.EBUSY, "another call receives from the socket")
	}
	defer s.receiving.leave()
	if s.closed {
		return 0, net.ErrClosed
	}
	if err := s.describe(); err != nil {
		return 0, err
	}
	return s.fd.fd, nil
}

// describe makes the descriptor if there is none.
func (s *Socket) describe() (err error) {
	if s.fd == nil {
		s.fd, err = newDescriptor(s.in, s.ahead)
	}
	return err
}
