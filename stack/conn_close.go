// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// errTooManyClosed is why a connection did not keep what it had to send when it was closed.
var errTooManyClosed = fmt.Errorf("too many closed connections wait for their peers: %w", syscall.ENOBUFS)

// Close ends the connection in order: the peer reads what was written, then io.EOF. Close does
// not wait, not for a peer that does not read either: what the node still holds goes as the
// peer makes room, for as long as its node answers; CloseWait and Node.Close wait for that.
// What waits here unread is lost, and all waiting calls end with net.ErrClosed, as a second
// Close does. Errors, inside *net.OpError: *UnsentError of a connection that had ended with
// bytes that were not sent, or that found no place among the closed ones that still hold
// some (docs/limits.md): the peer reads a reset then. The connection is closed in any case.
func (c *Conn) Close() error {
	if c.far != nil {
		return c.far.close("close", true)
	}
	return c.end("close", (*engine.Conn).Close)
}

// CloseWait is Close that waits until all that was written has been put on the link to the
// peer's node, and the end behind it; of a connection that is closed already it waits for
// that. Errors: *UnsentError where that became impossible, as the peer closed, broke off or
// was lost. When ctx is done it is an *UnsentError with ctx's error and the bytes that the
// node still holds, which go on as after Close.
func (c *Conn) CloseWait(ctx context.Context) error {
	if c.far != nil {
		return c.far.closeWait(ctx)
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	if !c.closed {
		c.leave((*engine.Conn).Close)
		n.lap(n.now(), false)
	}
	if !n.awaitGone(ctx, c) {
		return c.opUnsent("close", c.c.Held(), context.Cause(ctx))
	}
	return c.unsentError("close")
}

// awaitGone waits until nothing is left to do for a closed connection, and reports false when
// ctx is done before.
func (n *Node) awaitGone(ctx context.Context, c *Conn) bool {
	if c.c == nil || c.c.Gone() {
		return true
	}
	c.c.WatchClose()
	w := wait{list: &c.closers, closed: &n.closed, ctx: ctx}
	_ = n.await(&w, c.c.Gone) // whatever ended it, what counts is whether it is gone
	n.leave(&w)
	return c.c.Gone()
}

// Abort ends the connection as a kernel does when a socket is closed: the peer reads
// what was written, then syscall.ECONNRESET. Else as Close.
func (c *Conn) Abort() error {
	if c.far != nil {
		return c.far.close("abort", false)
	}
	return c.end("abort", (*engine.Conn).Abort)
}

func (c *Conn) end(op string, how func(*engine.Conn, time.Duration)) error {
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	if c.closed {
		return opError(op, c.network, c.local, c.remote, net.ErrClosed)
	}
	c.leave(how)
	n.lap(n.now(), false)
	return c.unsentError(op)
}

// shut implements socket.
func (c *Conn) shut() { c.leave((*engine.Conn).Close) }

func (c *Conn) leave(how func(*engine.Conn, time.Duration)) {
	n := c.n
	c.closed = true
	delete(n.sockets, c)
	if c.c != nil {
		how(c.c, n.now())
	}
	c.wake(n, true)
	n.rouseAll(c.writing)
}

// unsentError is the error of a closed connection whose bytes are lost, or nil.
func (c *Conn) unsentError(op string) error {
	if c.c == nil || c.c.Unsent() == 0 {
		return nil
	}
	why := errTooManyClosed
	if end, ok := c.c.End(); ok {
		end.Unsent = 0 // it is said outside
		why = connError(c.network, &end, true)
	} else if c.n.closing {
		why = net.ErrClosed
	}
	return c.opUnsent(op, c.c.Unsent(), why)
}

func (c *Conn) opUnsent(op string, bytes int, why error) error {
	return opError(op, c.network, c.local, c.remote, &UnsentError{Bytes: bytes, Err: why})
}
