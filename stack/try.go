// SPDX-License-Identifier: Apache-2.0

package stack

import "net"

// The Try calls never wait: where Read, Write or Accept would, they fail with
// syscall.EAGAIN itself, which costs no allocation. They heed no deadline and are for
// those who serve many sockets by a Poller.

// TryReadMsg is ReadMsg that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed.
func (c *PacketConn) TryReadMsg(b []byte) (int, Message, error) {
	k, m, err := c.b.TryReadMsg(filled(b))
	return k, m.Message(), err
}

// TryWriteTo is WriteTo that does not wait for room or for a name. Errors as for WriteTo,
// and syscall.EAGAIN.
func (c *PacketConn) TryWriteTo(b []byte, addr net.Addr) (int, error) {
	d, err := c.peer.DestOf(addr)
	if err != nil {
		return 0, c.b.SendError(addr, err)
	}
	return c.b.TryWrite(d, b, addr)
}

// TryReadMsg is ReadMsg that does not wait. Errors as for Read, and syscall.EAGAIN.
func (c *Conn) TryReadMsg(b []byte) (k, size int, err error) {
	return c.b.TryReadMsg(filled(b))
}

// TryWrite is Write that does not wait: of a stream it may send the beginning of b alone.
// Errors as for Write, and syscall.EAGAIN.
func (c *Conn) TryWrite(b []byte) (int, error) { return c.b.TryWrite(b) }

// TryReadMsg is ReadMsg that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed.
func (g *Group) TryReadMsg(b []byte) (int, Message, error) {
	k, m, err := g.b.TryReadMsg(filled(b))
	return k, m.Message(), err
}

// TryAccept is AcceptConn that does not wait. Errors: syscall.EAGAIN; inside *net.OpError
// net.ErrClosed, ErrTooManySockets.
func (l *Listener) TryAccept() (*Conn, error) { return accepted(l.b.TryAccept()) }
