// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"io"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
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
// There is no half-close: who closes reads no more. The end is sticky, every call
// returns it again.
//
// What Write has taken either arrives, before io.EOF, or is reported as lost by an
// *UnsentError with the number of bytes: inside the *ConnError of a Write or Read that finds
// the connection ended, and by Close, CloseWait or Node.Close. The peer reads a reset then. Counted is
// what the node had not yet put on the link, and what the peer's node had not acknowledged
// there when contact was lost; whether the peer's program reads what its node has, nobody
// is told.
type Conn struct {
	writeHalf
	lending
	readHalf // readers, and Dial while it waits
	stream   bool
	remote   SocketAddr
	dialing  bool         // Dial waits
	cfg      *dialConfig  // of Dial
	c        *engine.Conn // nil: the request is not under way yet
	distant  farConn      // of an attached node
	closers  waitList     // calls of CloseWait
}

var _ net.Conn = (*Conn)(nil)

// LocalAddr is the socket's own address, a SocketAddr.
func (c *Conn) LocalAddr() net.Addr { return c.Addr() }

// RemoteAddr is the peer's address, a SocketAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Service is the name that the connection was dialed by; ok is false if that was a
// socket's address.
func (c *Conn) Service() (a Service, ok bool) {
	if c.far != nil {
		return c.distant.service, c.distant.named
	}
	return c.c.Name()
}

// Importance is that of all the connection's messages, as its dialing end chose it.
func (c *Conn) Importance() Importance {
	if c.far != nil {
		return c.distant.importance
	}
	return c.c.Importance
}

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
	n, size, err = c.read(b)
	switch err {
	case nil:
		return n, size, nil
	case io.EOF:
		return 0, 0, io.EOF
	}
	return 0, 0, opError("read", c.network, c.Addr(), c.remote, err)
}

func (c *Conn) read(b []byte) (k, size int, err error) {
	if c.far != nil {
		return c.readFar(b)
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	var ended error
	err = c.await(n, &c.closed, func() (ok bool) {
		if c.c.Pending() == 0 {
			ended = connError(c.network, c.c.Err(), false)
			return ended != nil
		}
		now := n.latest
		if c.c.Due() {
			now = n.now()
		}
		k, size, ok = c.c.Read(now, b)
		return ok
	}, c.readable)
	if err == nil {
		err = ended
	}
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.lap(n.now(), false)
	}
	return k, size, err
}

// readable reports whether a Read would not wait. The lap lock is held.
func (c *Conn) readable() bool { return c.c.Pending() > 0 || c.c.State() != engine.Established }

// moved is called by a lap after which there is more to read, room, or another state.
func (c *Conn) moved() {
	if c.c.State() != engine.Established {
		c.wake(c.n, true)
		c.n.rouseAll(c.writing)
		c.n.rouseAll(c.closers)
		return
	}
	if c.readable() || c.dialing {
		c.wake(c.n, false)
	}
	if len(c.writing) > 0 {
		c.n.rouse(c.writing[0])
	}
}

// SetNoDelay says whether short writes of a stream go out one by one. Else, the default,
// a stream whose peer has said nothing for some writes collects them while it waits to
// hear that those before have arrived, as a kernel's does; what comes from the peer ends
// that. On a "tipcpacket" it changes nothing. Errors: net.ErrClosed.
func (c *Conn) SetNoDelay(on bool) error {
	if c.far != nil {
		return c.far.set(attach.OptNoDelay, truth(on))
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	if c.closed {
		return opError("set", c.network, c.local, c.remote, net.ErrClosed)
	}
	now := n.now()
	c.c.SetNoDelay(now, on)
	n.lap(now, false)
	return nil
}

// SetDeadline sets both deadlines; zero means none.
func (c *Conn) SetDeadline(t time.Time) error { return c.setDeadlines(&t, &t) }

// SetReadDeadline sets the time at which reads end with os.ErrDeadlineExceeded,
// waiting ones included; zero means never.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(&t, nil) }

// SetWriteDeadline sets the time at which blocked writes end with a *BlockedError,
// waiting ones included; zero means never.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(nil, &t) }

func (c *Conn) setDeadlines(read, write *time.Time) error {
	if c.far != nil {
		return c.far.SetDeadlines(read, write)
	}
	c.n.mu.Lock()
	defer c.n.unlock()
	if c.closed {
		return opError("set", c.network, c.local, c.remote, net.ErrClosed)
	}
	if read != nil {
		c.setReadBy(c.n, *read)
	}
	if write != nil {
		c.setWriteBy(*write)
	}
	return nil
}
