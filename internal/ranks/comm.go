// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Eager is the bytes that Send takes without waiting for their receiver.
const Eager = 16 << 10

// Tags from collective up are those of this package.
const collective = 1 << 31

// A Comm is a rank's connections with all others. It is one goroutine's.
type Comm struct {
	rank  int
	pairs []*Pair // by rank; nil for its own
	done  chan error
	stop  func() bool

	words []byte // of Sum and Barrier
}

// Connect meets all other ranks. When ctx is done, calls that wait end with an error.
// Errors: the context's, or the transport's.
func Connect(ctx context.Context, p Place) (c *Comm, err error) {
	c = &Comm{rank: p.Rank, pairs: make([]*Pair, p.Ranks), done: make(chan error, 1)}
	ln, err := p.Listen(ctx, Meeting)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	c.stop = context.AfterFunc(ctx, func() { ln.Close() })
	defer func() {
		c.stop()
		if err != nil {
			c.Close()
			return
		}
		c.stop = context.AfterFunc(ctx, c.cut)
	}()
	// The higher rank dials, and says who it is.
	for to := range p.Rank {
		conn, err := p.Dial(ctx, Meeting, to)
		if err != nil {
			return c, fmt.Errorf("rank %d: %w", to, err)
		}
		if c.pairs[to], err = NewPair(conn); err != nil {
			conn.Close()
			return c, err
		}
		if _, err := conn.Write(binary.BigEndian.AppendUint32(nil, uint32(p.Rank))); err != nil {
			return c, err
		}
	}
	for range p.Ranks - 1 - p.Rank {
		if err := c.admit(ln); err != nil {
			return c, err
		}
	}
	return c, nil
}

// admit takes one of the higher ranks.
func (c *Comm) admit(ln net.Listener) error {
	conn, err := ln.Accept()
	if err != nil {
		return err
	}
	var b [4]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		conn.Close()
		return err
	}
	from := int(binary.BigEndian.Uint32(b[:]))
	if from <= c.rank || from >= len(c.pairs) || c.pairs[from] != nil {
		conn.Close()
		return fmt.Errorf("%w: rank %d", ErrBroken, from)
	}
	if c.pairs[from], err = NewPair(conn); err != nil {
		conn.Close()
	}
	return err
}

// Rank is this rank's number, from 0.
func (c *Comm) Rank() int { return c.rank }

// Ranks is how many there are.
func (c *Comm) Ranks() int { return len(c.pairs) }

// Close ends the connections. What was sent arrives.
func (c *Comm) Close() error {
	c.stop()
	c.cut()
	return nil
}

func (c *Comm) cut() {
	for _, p := range c.pairs {
		if p != nil {
			p.conn.Close() // nobody asks it for more
		}
	}
}

// Send sends b to another rank, whose Recv asks for this tag, below 1<<31. It waits for the
// receiver only where more than Eager bytes are under way; b is the caller's again on return.
func (c *Comm) Send(to int, tag uint32, b []byte) error { return c.pairs[to].Send(tag, b) }

// Recv waits for the next message of a rank with this tag; it is in b[:n]. Errors: ErrShort,
// and the message is lost; io.EOF when the other has closed; the transport's.
func (c *Comm) Recv(from int, tag uint32, b []byte) (n int, err error) {
	return c.pairs[from].Recv(tag, b)
}

// Exchange sends to one rank and receives from another, or the same, whatever the lengths:
// two ranks that do this with each other never wait for each other's receiving.
func (c *Comm) Exchange(to int, out []byte, from int, in []byte, tag uint32) (n int, err error) {
	if len(out) <= Eager {
		if err := c.Send(to, tag, out); err != nil {
			return 0, err
		}
		return c.Recv(from, tag, in)
	}
	go func() { c.done <- c.Send(to, tag, out) }()
	n, err = c.Recv(from, tag, in)
	if err != nil {
		c.cut() // ends the sending too: a rank that cannot receive is of no use
	}
	return n, errors.Join(err, <-c.done)
}
