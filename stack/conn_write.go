// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// errTurn means that another write of the same connection began before.
var errTurn = errors.New("stack: another write is not done yet")

// Write sends b: of a "tipcpacket" as one message of up to 66000 bytes, of a stream
// whatever its length. The data is copied. It waits while the peer has not read enough
// of what was sent before, or the link to its node is congested. A nil error means that
// all was taken: it arrives as long as contact with the node lasts. An empty b is no
// message. Errors, inside *net.OpError: ErrTooLong, which is syscall.EMSGSIZE too,
// net.ErrClosed, *ConnError, *BlockedError at the deadline.
func (c *Conn) Write(b []byte) (int, error) {
	if c.far != nil {
		return c.writeFar(b)
	}
	if len(b) > frame.MaxPayload && c.stream {
		return c.writeLong(b)
	}
	err := c.n.submit(c, dest{}, b)
	if err != nil {
		err = c.n.retry(context.Background(), c, dest{}, b, err)
	}
	if err != nil {
		return 0, c.writeError(err)
	}
	return len(b), nil
}

// writeLong sends more of a stream than a message holds. It keeps its turn until it is
// done.
func (c *Conn) writeLong(b []byte) (done int, err error) {
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	w := n.beginWrite(context.Background(), c, dest{}, len(b))
	n.enter(&w)
	defer n.endWrite(c, &w)
	for len(b) > 0 && err == nil {
		part := b[:min(len(b), frame.MaxPayload)]
		if err = n.persist(&w, c, part, errTurn); err == nil {
			done += len(part)
			b = b[len(part):]
		}
	}
	if err != nil {
		err = c.writeError(err)
	}
	return done, err
}

func (c *Conn) writeError(err error) error {
	return opError("write", c.network, c.Addr(), c.remote, connError(c.network, err, true))
}

// put implements sender. Without a connection the message is the request for one.
func (c *Conn) put(now time.Duration, d dest, data []byte) error {
	switch {
	case c.c == nil:
		return c.request(now, d, data)
	case len(c.writing) > 0 && c.writing[0] != c.n.trying:
		return errTurn
	}
	return c.c.Write(now, data)
}

// waits implements sender.
func (c *Conn) waits(d dest, err error) bool {
	return err == errTurn || blocks(err) || isFull(err) || c.awaits(d, err)
}

func isFull(err error) bool {
	_, ok := err.(*engine.WindowFull)
	return ok
}
