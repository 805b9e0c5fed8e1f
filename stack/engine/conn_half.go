// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// One end of a connection may stop sending and go on reading. It says so in a message of the
// connection manager that kernels do not have, so it is sent only to nodes that have HalfClose,
// and within the node. The message is queued behind the last byte that Write took:
//
//	open ──(CloseWrite)──► held bytes go ──► ConnWriteEnd ──► the peer reads all, then the end
//
// A connection that ends before that loses what it holds, which Unsent counts as always.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".

// What CloseWrite and a Write after it can find.
var (
	// ErrWriteEnded means that CloseWrite was called before.
	ErrWriteEnded = fmt.Errorf("engine: closed for writing: %w", syscall.EPIPE)
	// ErrNoHalfClose means that the peer's node is a kernel, or a version that has no HalfClose.
	ErrNoHalfClose = fmt.Errorf("engine: the peer's node knows no half-close: %w", errors.ErrUnsupported)
)

// A halves says which directions of a connection have ended while it goes on.
type halves uint8

const (
	writeEnded halves = 1 << iota // CloseWrite was called here
	readEnded                     // and by the peer: no data comes any more
)

// CanCloseWrite reports whether the peer's node has HalfClose. It is known once the connection is
// established, and does not change then.
func (c *Conn) CanCloseWrite() bool {
	e, n := c.port.e, c.node
	return n != nil && !e.cfg.AsKernel && (n == e.self || n.has(HalfClose))
}

// CloseWrite ends what this end sends: the peer reads all that was written, then the end, and may
// go on writing, which can be read here. A second call changes nothing. Errors: ErrConnecting,
// ErrNoHalfClose; *ConnError and ErrClosed of a connection that has ended or was closed.
func (c *Conn) CloseWrite(now time.Duration) error {
	switch {
	case c.state == Connecting:
		return ErrConnecting
	case c.state != Established:
		return c.Err()
	case c.half&writeEnded != 0:
		return nil
	case !c.CanCloseWrite():
		return ErrNoHalfClose
	}
	c.half |= writeEnded
	if c.early == nil { // else the peer is gone
		c.nagle.Flush()
		c.pay(now, owedWriteEnd)
	}
	return nil
}

// ReadEnded reports whether the peer has called CloseWrite: what waits is all that will be read.
func (c *Conn) ReadEnded() bool { return c.half&readEnded != 0 }

// mayEndWrite reports whether the end of what is written is owed and nothing else goes before it.
func (c *Conn) mayEndWrite() bool {
	return c.owed&owedWriteEnd != 0 && c.owed&owedAnswer == 0 && c.nagle.Held() == 0
}

// peerWriteEnded takes the peer's ConnWriteEnd.
func (c *Conn) peerWriteEnded(n *node) {
	e := c.port.e
	if n != e.self && !n.has(HalfClose) || c.state != Established || c.user != nil {
		e.drop(DropConn)
		return
	}
	c.half |= readEnded
	e.conns.tell(c, callReadable)
}
