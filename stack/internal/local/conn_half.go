// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io"
	"net"

	"github.com/utipc/utipc/stack/internal/backend"
)

// CloseWrite implements backend.Conn.
func (c *Conn) CloseWrite() error {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	err := net.ErrClosed
	if !c.closed {
		now := n.loop.Now()
		err = connError(c.c.CloseWrite(now), true)
		n.pollOnce(now, false)
		n.loop.RouseAll(c.writing) // they find that it is closed for writing
	}
	if err != nil {
		return backend.OpError("close", c.network, c.local, c.remote, err)
	}
	return nil
}

// CanCloseWrite is for hosting.CanCloseWrite.
func (c *Conn) CanCloseWrite() bool {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return c.c.CanCloseWrite()
}

// Ended is for hosting.Ended.
func (c *Conn) Ended() error {
	c.n.loop.Lock()
	defer c.n.loop.Unlock()
	return connError(c.c.Err(), false)
}

// readEnd is why there is nothing more to read, or nil. Whatever became of the connection after
// its peer had ended its writing, everything was read. The node's lock is held.
func (c *Conn) readEnd() error {
	if c.c.ReadEnded() {
		return io.EOF
	}
	return connError(c.c.Err(), false)
}
