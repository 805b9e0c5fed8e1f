// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A Conn is one end of a connection, of a node in this process.
type Conn struct {
	writeHalf
	backend.Lending
	readHalf // readers, and Dial while it waits
	stream   bool
	remote   frame.SocketAddr
	dialing  bool         // Dial waits
	cfg      *dialConfig  // of Dial
	c        *engine.Conn // nil: the request is not under way yet
	closers  poll.List    // calls of CloseWait
}

// RemoteAddr implements backend.Conn.
func (c *Conn) RemoteAddr() frame.SocketAddr { return c.remote }

// Service implements backend.Conn.
func (c *Conn) Service() (a frame.Service, ok bool) {
	return c.c.Name()
}

// Importance implements backend.Conn.
func (c *Conn) Importance() frame.Importance {
	return c.c.Importance
}

// Read implements backend.Conn.
func (c *Conn) Read(ctx context.Context, b []byte) (k, size int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var ended error
	err = c.awaitContext(ctx, n, &c.closed, func() (ok bool) {
		if c.c.Pending() == 0 {
			ended = c.readEnd()
			return ended != nil
		}
		now := n.latest
		if c.c.Due() {
			now = n.loop.Now()
		}
		k, size, ok = c.c.Read(now, b)
		return ok
	}, c.readable)
	if err == nil {
		err = ended
	}
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	return k, size, err
}

// readable reports whether a Read would not wait. The node's lock is held.
func (c *Conn) readable() bool {
	return c.c.Pending() > 0 || c.c.State() != engine.Established || c.c.ReadEnded()
}

// moved is called by a poll after which there is more to read, room, or another state.
func (c *Conn) moved() {
	if c.c.State() != engine.Established {
		c.wake(c.n, true)
		c.n.loop.RouseAll(c.writing)
		c.n.loop.RouseAll(c.closers)
		return
	}
	if c.readable() || c.dialing {
		c.wake(c.n, false)
	}
	if len(c.writing) > 0 {
		c.n.loop.Rouse(c.writing[0])
	}
}

// SetNoDelay implements backend.Conn.
func (c *Conn) SetNoDelay(on bool) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if c.closed {
		return backend.OpError("set", c.network, c.local, c.remote, net.ErrClosed)
	}
	now := n.loop.Now()
	c.c.SetNoDelay(now, on)
	n.pollOnce(now, false)
	return nil
}

// SetReceiveLimit implements backend.Conn.
func (c *Conn) SetReceiveLimit(bytes int) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	err := net.ErrClosed
	switch {
	case bytes < 0:
		err = fmt.Errorf("%w: receive limit of %d bytes", engine.ErrConfig, bytes)
	case !c.closed:
		c.c.SetReceiveLimit(bytes)
		return nil
	}
	return backend.OpError("set", c.network, c.local, c.remote, err)
}

// SetDeadline implements backend.Socket.
func (c *Conn) SetDeadline(of backend.Calls, t time.Time) error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	if c.closed {
		return backend.OpError("set", c.network, c.local, c.remote, net.ErrClosed)
	}
	if of&backend.Reads != 0 {
		c.setReadBy(c.n, t)
	}
	if of&backend.Writes != 0 {
		c.setWriteBy(t)
	}
	return nil
}

// NewBuffer implements backend.Conn.
func (c *Conn) NewBuffer(b *backend.Buffer, size int) error {
	if err := makeBuffer(c.n, c, b, size); err != nil {
		return c.writeError(err)
	}
	return nil
}

// WriteBuffer implements backend.Conn.
func (c *Conn) WriteBuffer(b *backend.Buffer) error {
	if err := sendBuffer(c.n, c, backend.Dest{}, b); err != nil {
		return c.writeError(err)
	}
	return nil
}

// ReadBuffer implements backend.Conn.
func (c *Conn) ReadBuffer(b *backend.Buffer) (err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var ended error
	err = c.await(n, &c.closed, func() bool {
		if c.c.Pending() == 0 {
			ended = c.readEnd()
			return ended != nil
		}
		counted := b.Open(&c.Lending, c)
		data, hold, _ := c.c.Take(n.loop.Now(), b.Own)
		fillBuffer(b, data, hold, counted)
		return true
	}, c.readable)
	if err == nil {
		err = ended
	}
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	return err
}

// ReadNext implements backend.Conn.
func (c *Conn) ReadNext(b []byte, m *backend.Buffer) (k int, err error) {
	n := c.n
	n.loop.Lock()
	large := c.c.Large()
	n.loop.Unlock()
	if large { // another call may take it, and what it leaves is copied: no harm
		return 0, c.ReadBuffer(m)
	}
	k, _, err = c.Read(context.Background(), b)
	return k, err
}

// lend implements lender.
func (c *Conn) lend(now time.Duration, m *engine.Lent, n int) error { return c.c.Lend(now, m, n) }

// putLent implements lender.
func (c *Conn) putLent(now time.Duration, d backend.Dest, m *engine.Lent) error {
	if len(c.writing) > 0 && c.writing[0] != c.n.trying {
		return errTurn
	}
	return c.c.WriteLent(now, m)
}

// Close implements backend.Socket.
func (c *Conn) Close() error {
	return c.end("close", (*engine.Conn).Close)
}

// CloseWait implements backend.Conn.
func (c *Conn) CloseWait(ctx context.Context) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if !c.closed {
		c.leave((*engine.Conn).Close)
		n.pollOnce(n.loop.Now(), false)
	}
	if !n.awaitGone(ctx, c) {
		return c.opUnsent("close", c.c.Held(), context.Cause(ctx))
	}
	return c.unsentError("close")
}

// Abort implements backend.Conn.
func (c *Conn) Abort() error {
	return c.end("abort", (*engine.Conn).Abort)
}

func (c *Conn) end(op string, how func(*engine.Conn, time.Duration)) error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if c.closed {
		return backend.OpError(op, c.network, c.local, c.remote, net.ErrClosed)
	}
	c.leave(how)
	n.pollOnce(n.loop.Now(), false)
	return c.unsentError(op)
}

// shut implements openSocket.
func (c *Conn) shut() { c.leave((*engine.Conn).Close) }

func (c *Conn) leave(how func(*engine.Conn, time.Duration)) {
	n := c.n
	c.closed = true
	n.removeSocket(c)
	if c.c != nil {
		how(c.c, n.loop.Now())
	}
	c.wake(n, true)
	n.loop.RouseAll(c.writing)
}

// unsentError is the error of a closed connection whose bytes are lost, or nil.
func (c *Conn) unsentError(op string) error {
	if c.c == nil || c.c.Unsent() == 0 {
		return nil
	}
	why := errTooManyClosed
	if end, ok := c.c.End(); ok {
		end.Unsent = 0 // it is said outside
		why = connError(&end, true)
	} else if c.n.closing {
		why = net.ErrClosed
	}
	return c.opUnsent(op, c.c.Unsent(), why)
}

func (c *Conn) opUnsent(op string, bytes int, why error) error {
	return backend.OpError(op, c.network, c.local, c.remote, &socket.UnsentError{Bytes: bytes, Err: why})
}

func (c *Conn) writeError(err error) error {
	return backend.OpError("write", c.network, c.Addr(), c.remote, connError(err, true))
}

// put implements sender. Without a connection the message is the request for one.
func (c *Conn) put(now time.Duration, d backend.Dest, data []byte) error {
	switch {
	case c.c == nil:
		return c.request(now, d, data)
	case len(c.writing) > 0 && c.writing[0] != c.n.trying:
		return errTurn
	}
	return c.c.Write(now, data)
}

// waits implements sender.
func (c *Conn) waits(d backend.Dest, err error) bool {
	return err == errTurn || blocks(err) || isFull(err) || c.awaits(d, err)
}

// TryReadMsg implements backend.Conn.
func (c *Conn) TryReadMsg(b []byte) (k, size int, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	switch {
	case c.closed:
		return 0, 0, backend.OpError("read", c.network, c.local, c.remote, net.ErrClosed)
	case len(b) == 0:
		return 0, 0, nil
	case c.c.Pending() == 0:
		return 0, 0, c.tried()
	}
	now := n.latest
	if c.c.Due() {
		now = n.loop.Now()
	}
	k, size, ok := c.c.Read(now, b)
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	if !ok {
		return 0, 0, backend.ErrAgain
	}
	return k, size, nil
}

// tried is why there is nothing to read.
func (c *Conn) tried() error {
	ended := c.readEnd()
	switch _, lost := ended.(*socket.ConnError); {
	case ended == nil:
		return backend.ErrAgain
	case lost:
		return backend.OpError("read", c.network, c.local, c.remote, ended)
	}
	return ended // io.EOF
}

// TryWrite implements backend.Conn.
func (c *Conn) TryWrite(b []byte) (int, error) {
	if c.stream {
		b = b[:min(len(b), frame.MaxPayload)]
	}
	err := c.n.submit(c, backend.Dest{}, b)
	switch {
	case err == nil:
		return len(b), nil
	case c.waits(backend.Dest{}, err):
		return 0, backend.ErrAgain
	}
	return 0, c.writeError(err)
}

// Stats implements backend.Socket.
func (c *Conn) Stats(context.Context) (engine.PortStats, error) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.c.Stats(), nil
}

// Poll implements backend.Socket.
func (c *Conn) Poll(p backend.Poller, owner any) *socket.Polled { return c.addTo(p, c.n, owner) }

// Hold implements backend.Socket.
func (c *Conn) Hold(k int) { c.n.hold(c.c.Port(), k) }

// awaitGone waits until nothing is left to do for a closed connection, and reports false when
// ctx is done before.
func (n *Node) awaitGone(ctx context.Context, c *Conn) bool {
	if c.c == nil || c.c.Gone() {
		return true
	}
	c.c.WatchClose()
	w := poll.Wait{List: &c.closers, Closed: &n.closed, Ctx: ctx}
	_ = n.loop.Await(&w, c.c.Gone) // whatever ended it, what counts is whether it is gone
	n.loop.Leave(&w)
	return c.c.Gone()
}

// errTooManyClosed is why a connection did not keep what it had to send when it was closed.
var errTooManyClosed = fmt.Errorf("too many closed connections wait for their peers: %w", syscall.ENOBUFS)

// errTurn means that another write of the same connection began before.
var errTurn = errors.New("stack: another write is not done yet")

func isFull(err error) bool {
	_, ok := err.(*engine.WindowFull)
	return ok
}

// Placed is for hosting.Placed.
func (c *Conn) Placed() uint64 {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.c.Placed()
}

// Returned is for hosting.Returned.
func (c *Conn) Returned() string {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.c.Returned()
}

// Unread is for hosting.Unread.
func (c *Conn) Unread(b []byte) {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	c.c.Unread(b)
}

// Held is the number of bytes that the connection holds: its Write has taken them, and they
// are not on the link.
func (c *Conn) Held() int {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.c.Held()
}
