// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"net"
	"syscall"

	"github.com/utipc/utipc/frame"
)

// The Try calls never wait: where Read, Write or Accept would, they fail with
// syscall.EAGAIN itself, which costs no allocation. They heed no deadline and are for
// those who serve many sockets by a Poller.
var errAgain error = syscall.EAGAIN

// TryReadMsg is ReadMsg that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed.
func (c *PacketConn) TryReadMsg(b []byte) (int, Message, error) {
	if c.far != nil {
		return c.tryReadFar(b)
	}
	c.n.mu.Lock()
	defer c.n.unlock()
	if c.closed {
		return 0, Message{}, opError("read", c.network, c.local, nil, net.ErrClosed)
	}
	k, r, ok := c.port.Read(b)
	if !ok {
		return 0, Message{}, errAgain
	}
	c.tried = r
	return k, c.message(&r, k), nil
}

// ReturnMsg gives the message that TryReadMsg returned last, of which b is the data, back
// to its sender as undeliverable: for a program that reads on behalf of others, and could
// not pass the message on. The sender reads it as a *RejectError with that code, or with
// NoPort after Close, if it has asked for returned messages; else the message counts as
// dropped (SocketStats.Dropped). Errors: net.ErrClosed of a node that is closed, and
// errors.ErrUnsupported of an attached node, inside *net.OpError.
func (c *PacketConn) ReturnMsg(b []byte, why ErrorCode) error {
	if c.far != nil {
		return opError("return", c.network, c.Addr(), nil, errors.ErrUnsupported)
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	if err := n.running(); err != nil {
		return opError("return", c.network, c.local, nil, err)
	}
	if c.closed {
		why = frame.NoPort
	}
	now := n.now()
	c.port.Return(now, c.tried, b, why)
	n.lap(now, false)
	return nil
}

// TryWriteTo is WriteTo that does not wait for room or for a name. Errors as for WriteTo,
// and syscall.EAGAIN.
func (c *PacketConn) TryWriteTo(b []byte, addr net.Addr) (int, error) {
	if c.far != nil {
		return c.tryWriteFar(b, addr)
	}
	d, err := c.destOr(addr)
	if err == nil {
		if err = c.n.submit(c, d, b); err == nil {
			return len(b), nil
		}
		if c.waits(d, err) {
			return 0, errAgain
		}
	}
	return 0, c.sendError(addr, err)
}

// TryReadMsg is ReadMsg that does not wait. Errors as for Read, and syscall.EAGAIN.
func (c *Conn) TryReadMsg(b []byte) (k, size int, err error) {
	if c.far != nil {
		return c.tryReadFar(b)
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	switch {
	case c.closed:
		return 0, 0, opError("read", c.network, c.local, c.remote, net.ErrClosed)
	case len(b) == 0:
		return 0, 0, nil
	case c.c.Pending() == 0:
		return 0, 0, c.tried()
	}
	now := n.latest
	if c.c.Due() {
		now = n.now()
	}
	k, size, ok := c.c.Read(now, b)
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.lap(n.now(), false)
	}
	if !ok {
		return 0, 0, errAgain
	}
	return k, size, nil
}

// tried is why there is nothing to read.
func (c *Conn) tried() error {
	ended := connError(c.network, c.c.Err(), false)
	switch _, lost := ended.(*ConnError); {
	case ended == nil:
		return errAgain
	case lost:
		return opError("read", c.network, c.local, c.remote, ended)
	}
	return ended // io.EOF
}

// TryWrite is Write that does not wait: of a stream it may send the beginning of b alone.
// Errors as for Write, and syscall.EAGAIN.
func (c *Conn) TryWrite(b []byte) (int, error) {
	if c.far != nil {
		return c.tryWriteFar(b)
	}
	if c.stream {
		b = b[:min(len(b), frame.MaxPayload)]
	}
	err := c.n.submit(c, dest{}, b)
	switch {
	case err == nil:
		return len(b), nil
	case c.waits(dest{}, err):
		return 0, errAgain
	}
	return 0, c.writeError(err)
}

// TryReadMsg is ReadMsg that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed.
func (g *Group) TryReadMsg(b []byte) (int, GroupMessage, error) {
	return g.b.TryReadMsg(filled(b))
}

// TryAccept is AcceptConn that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed, ErrTooManySockets.
func (l *Listener) TryAccept() (*Conn, error) { return l.b.TryAccept() }
