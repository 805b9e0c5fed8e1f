// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A Conn is one end of a connection: "tipc", a stream of bytes (SOCK_STREAM), or
// "tipcpacket", messages (SOCK_SEQPACKET). What is written arrives, once and in order, as
// long as contact with the peer's node lasts. It is safe for concurrent use; a Write is
// never mixed with another.
//
//	Dial, Accept ──► established ──(Close: what was written arrives, then io.EOF)──► closed
//	                      │
//	                      └──(the peer closed, broke off, or its node is lost)──► ended: what
//	                         came can be read still, then the reason; writes fail
//
// After Close nothing is read any more. Between nodes of this implementation one end may call
// CloseWrite and go on reading. The end is sticky, every call returns it again.
//
// What Write has taken either arrives, before io.EOF, or is reported as lost by an
// *UnsentError with the number of bytes: inside the *ConnError of a Write or Read that finds
// the connection ended, and by Close, CloseWait or Node.Close. The peer reads a reset then. Counted is
// what the node had not yet put on the link, and what the peer's node had not acknowledged
// there when contact was lost; whether the peer's program reads what its node has, nobody
// is told.
type Conn struct{ b backend.Conn }

var _ net.Conn = (*Conn)(nil)

// LocalAddr is the socket's own address, a SocketAddr.
func (c *Conn) LocalAddr() net.Addr { return c.b.Addr() }

// RemoteAddr is the peer's address, a SocketAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.b.RemoteAddr() }

// Service is the name that the connection was dialed by; ok is false if that was a
// socket's address.
func (c *Conn) Service() (a Service, ok bool) { return c.b.Service() }

// Importance is that of all the connection's messages, as its dialing end chose it.
func (c *Conn) Importance() Importance { return c.b.Importance() }

// Read waits for data and copies it into b. A stream gives what there is, as far as b
// holds it. Of a "tipcpacket" it is one message, and what does not fit is lost. After
// the last data of a peer that has closed it returns io.EOF. Errors, inside
// *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded, *ConnError.
func (c *Conn) Read(b []byte) (int, error) {
	k, _, err := c.ReadMsg(b)
	return k, err
}

// ReadMsg is Read that also tells the size of the message: what is above n was lost. Of
// a stream size is n.
func (c *Conn) ReadMsg(b []byte) (n, size int, err error) {
	if len(b) == 0 {
		return 0, 0, nil
	}
	n, size, err = c.b.Read(context.Background(), filled(b))
	return n, size, c.readError(err)
}

// ReadContext is Read that ctx ends too, with its error. The read deadline holds as well.
func (c *Conn) ReadContext(ctx context.Context, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, _, err := c.b.Read(ctx, filled(b))
	return n, c.readError(err)
}

// readError is the error of a read; io.EOF is plain.
func (c *Conn) readError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return backend.OpError("read", c.b.Network(), c.b.Addr(), c.b.RemoteAddr(), err)
}

// SetNoDelay says whether short writes of a stream go out one by one. Else, the default,
// a stream whose peer has said nothing for some writes collects them while it waits to
// hear that those before have arrived, as a kernel's does; what comes from the peer ends
// that. On a "tipcpacket" it changes nothing. Errors: net.ErrClosed.
func (c *Conn) SetNoDelay(on bool) error { return c.b.SetNoDelay(on) }

// SetDeadline sets both deadlines; zero means none.
func (c *Conn) SetDeadline(t time.Time) error {
	return c.b.SetDeadline(backend.Reads|backend.Writes, t)
}

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.b.SetDeadline(backend.Reads, t) }

// SetWriteDeadline sets the time at which blocked writes end with a *BlockedError,
// waiting ones included; zero means never.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.b.SetDeadline(backend.Writes, t) }
