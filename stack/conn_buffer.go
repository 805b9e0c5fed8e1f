// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// NewBuffer makes a message of size bytes, up to 66000, for WriteBuffer; see
// PacketConn.NewBuffer.
func (c *Conn) NewBuffer(size int) (*Buffer, error) {
	b, err := makeBuffer(c.n, c, size)
	if err != nil {
		return nil, c.writeError(err)
	}
	return b, nil
}

// WriteBuffer is Write for a Buffer of NewBuffer, whose memory is the network's then: no
// data is copied, but within this node, where the packets to the peer are smaller than
// those the Buffer was made for, and of a stream that collects short messages. With a nil
// error b is void, and left to be Released; otherwise it is the caller's still. Errors as
// for Write; ErrVoid.
func (c *Conn) WriteBuffer(b *Buffer) error {
	if c.far != nil {
		return c.writeBufferFar(b)
	}
	if err := sendBuffer(c.n, c, dest{}, b); err != nil {
		return c.writeError(err)
	}
	return nil
}

// ReadBuffer is Read without a copy: it hands out the memory that the next message lies
// in, or of a stream its rest. Only messages of up to 2048 bytes are copied, and what is
// read while the connection has 64 Buffers out.
func (c *Conn) ReadBuffer() (*Buffer, error) {
	b, err := c.readBuffer()
	switch err {
	case nil:
		return b, nil
	case io.EOF:
		return nil, io.EOF
	}
	return nil, opError("read", c.network, c.Addr(), c.remote, err)
}

func (c *Conn) readBuffer() (b *Buffer, err error) {
	if c.far != nil {
		return readBufferFar(c, func(keep func([]byte)) error {
			return c.far.line().next(context.Background(), false, func(r *clientRecord) bool {
				keep(r.data)
				return true
			})
		})
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	var ended error
	err = c.await(n, &c.closed, func() bool {
		if c.c.Pending() == 0 {
			ended = connError(c.network, c.c.Err(), false)
			return ended != nil
		}
		var counted bool
		b, counted = newBuffer(c)
		data, hold, _ := c.c.Take(n.now(), b.own)
		b.fill(data, hold, counted)
		return true
	}, c.readable)
	if err == nil {
		err = ended
	}
	if c.c.Acknowledged() { // it goes out now: the peer may wait for it, on this node too
		n.lap(n.now(), false)
	}
	return b, err
}

// lend implements lender.
func (c *Conn) lend(now time.Duration, m *engine.Lent, n int) error { return c.c.Lend(now, m, n) }

// putLent implements lender.
func (c *Conn) putLent(now time.Duration, d dest, m *engine.Lent) error {
	if len(c.writing) > 0 && c.writing[0] != c.n.trying {
		return errTurn
	}
	return c.c.WriteLent(now, m)
}
