// SPDX-License-Identifier: Apache-2.0

package ranks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// headLen is what stands before a message: its tag and its length, 4 bytes each.
const headLen = 8

// scratch is the bytes of a pair's buffers: a message that fits goes in one write.
const scratch = 64 << 10

// longest is the bytes of a message at most; what says more is no message.
const longest = 1 << 30

// ErrShort means a message that is longer than the space given for it.
var ErrShort = errors.New("ranks: the message is longer than the space for it")

// ErrBroken means that what came was never sent by a rank.
var ErrBroken = errors.New("ranks: not a message")

// A Pair is the connection between this rank and another. One goroutine may send while
// another receives.
type Pair struct {
	conn  net.Conn
	out   []byte    // of the message being sent
	in    []byte    // what was read and nobody has asked for
	free  []byte    // all of in's memory
	early []message // came before those that somebody asked for
}

// A message is one that waits for its tag to be asked for.
type message struct {
	tag  uint32
	data []byte
}

// NewPair is for messages over c, a connection over either; it has both transports send what is written at once.
func NewPair(c net.Conn) (*Pair, error) {
	if d, ok := c.(interface{ SetNoDelay(bool) error }); ok {
		if err := d.SetNoDelay(true); err != nil {
			return nil, err
		}
	}
	return &Pair{conn: c, out: make([]byte, 0, scratch), free: make([]byte, scratch)}, nil
}

// Send writes a message; b is the caller's again on return.
func (p *Pair) Send(tag uint32, b []byte) error {
	head := binary.BigEndian.AppendUint32(p.out[:0], tag)
	head = binary.BigEndian.AppendUint32(head, uint32(len(b)))
	n := min(len(b), scratch-headLen)
	if _, err := p.conn.Write(append(head, b[:n]...)); err != nil || n == len(b) {
		return err
	}
	_, err := p.conn.Write(b[n:])
	return err
}

// Recv waits for the next message with that tag.
func (p *Pair) Recv(tag uint32, b []byte) (int, error) {
	for i, m := range p.early {
		if m.tag == tag {
			p.early = append(p.early[:i], p.early[i+1:]...)
			if len(m.data) > len(b) {
				return 0, ErrShort
			}
			return copy(b, m.data), nil
		}
	}
	for {
		got, n, err := p.head()
		if err != nil {
			return 0, err
		}
		if got == tag && n <= len(b) {
			return n, p.body(b[:n])
		}
		m := message{got, make([]byte, n)}
		if err := p.body(m.data); err != nil {
			return 0, err
		}
		if got == tag {
			return 0, fmt.Errorf("%w: %d bytes, space for %d", ErrShort, n, len(b))
		}
		p.early = append(p.early, m)
	}
}

// Next waits for the next message, whatever its tag; one that Recv has put aside is not among
// them. Errors: ErrShort, and the message is lost.
func (p *Pair) Next(b []byte) (tag uint32, n int, err error) {
	tag, n, err = p.head()
	if err == nil && n > len(b) {
		err = fmt.Errorf("%w: %d bytes, space for %d", ErrShort, n, len(b))
	}
	if err != nil {
		return tag, 0, err
	}
	return tag, n, p.body(b[:n])
}

// head reads what stands before the next message.
func (p *Pair) head() (tag uint32, n int, err error) {
	if len(p.in) < headLen {
		k := copy(p.free, p.in)
		got, err := io.ReadAtLeast(p.conn, p.free[k:], headLen-k)
		if err != nil {
			return 0, 0, err
		}
		p.in = p.free[:k+got]
	}
	tag, n = binary.BigEndian.Uint32(p.in), int(binary.BigEndian.Uint32(p.in[4:]))
	if n > longest {
		return 0, 0, ErrBroken
	}
	p.in = p.in[headLen:]
	return tag, n, nil
}

// body reads a message, the rest of a long one straight to where it is to be.
func (p *Pair) body(b []byte) error {
	n := copy(b, p.in)
	p.in = p.in[n:]
	if n == len(b) {
		return nil
	}
	_, err := io.ReadFull(p.conn, b[n:])
	return err
}
