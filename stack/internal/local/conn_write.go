// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// Write implements backend.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	if len(b) > frame.MaxPayload && c.stream {
		done, err := c.writeParts(b, nil, len(b))
		return int(done), err
	}
	err := c.n.submit(c, backend.Dest{}, b)
	if err != nil {
		err = c.n.retry(context.Background(), c, backend.Dest{}, b, err)
	}
	if err != nil {
		return 0, c.writeError(err)
	}
	return len(b), nil
}

// WriteBuffers implements backend.Conn.
func (c *Conn) WriteBuffers(v [][]byte) (int64, error) {
	size := backend.SizeOf(v)
	switch {
	case size <= frame.MaxPayload:
		g := backend.NewGather(nil, v, false)
		defer g.Close()
		n, err := c.Write(g.Next())
		return int64(n), err
	case c.stream:
		return c.writeParts(nil, v, size)
	}
	return 0, c.writeError(engine.ErrTooLong)
}

// writeParts sends more of a stream than a message holds. It keeps its turn until it is
// done.
func (c *Conn) writeParts(b []byte, v [][]byte, size int) (done int64, err error) {
	n := c.n
	n.loop.Lock()
	defer n.loop.Unlock()
	wait, w := n.beginWrite(context.Background(), c, backend.Dest{}, size)
	n.loop.Enter(&wait)
	defer n.endWrite(c, &wait, w)
	g := backend.NewGather(b, v, true)
	defer g.Close()
	for part := g.Next(); len(part) > 0 && err == nil; {
		if err = n.persist(&wait, w, c, part, errTurn); err == nil {
			done += int64(len(part))
			part = g.Next()
		}
	}
	if err != nil {
		err = c.writeError(err)
	}
	return done, err
}
