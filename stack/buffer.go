// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"
	"sync"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A Buffer is a message in the node's own memory: one that was read without a copy, or
// one that is written in place, to be sent without.
//
// It belongs to its holder until he calls Release, also after Close of the socket and of
// the node, whose memory lives until the last Buffer has come back. A WriteBuffer that
// succeeds takes the memory; Release, which is to be called once and last, gives the
// Buffer itself back then, so that the next costs no allocation. After it the Buffer is
// another's. It is not safe for
// concurrent use. The data of one that was read is not to be changed: others may read
// it too.
type Buffer struct{ m backend.Buffer }

var buffers = sync.Pool{New: func() any { return &Buffer{} }}

// Len is the length of the message.
func (b *Buffer) Len() int { return b.m.Size }

// Pieces are the memory of the message, one behind the other: of one that is longer than
// a frame carries, a piece for each frame. In a new one there is what other messages left
// there: whoever asks for the Pieces, or Bytes, of one that he writes fills all of them.
func (b *Buffer) Pieces() [][]byte { return b.m.List() }

// Bytes is the message in one piece, which is a copy where there are several Pieces.
func (b *Buffer) Bytes() []byte { return b.m.Bytes() }

// Write fills the message in, from where the last Write has ended; what is not filled in
// is sent as zeros. The error is io.ErrShortWrite where it has no room for all of p.
func (b *Buffer) Write(p []byte) (n int, err error) { return b.m.Write(p) }

// Release gives the memory back, unless it was sent, and the Buffer.
func (b *Buffer) Release() {
	if b.m.Release() {
		buffers.Put(b)
	}
}

// emptyBuffer returns one for a backend to fill.
func emptyBuffer() *Buffer { return buffers.Get().(*Buffer) }

// drop gives back what no backend has filled.
func (b *Buffer) drop() {
	b.m.Release()
	buffers.Put(b)
}

// NewBuffer makes a message of size bytes, up to 66000, to be filled in and sent by
// WriteBuffer. It waits for memory as a write does, until the write deadline. Errors,
// inside *net.OpError: ErrTooLong, ErrNoRoom when the socket has 64 Buffers out,
// net.ErrClosed, *BlockedError.
func (c *PacketConn) NewBuffer(size int) (*Buffer, error) {
	b := emptyBuffer()
	if err := c.b.NewBuffer(&b.m, size); err != nil {
		b.drop()
		return nil, backend.OpError("write", c.b.Network(), c.b.Addr(), nil, err)
	}
	return b, nil
}

// WriteBuffer is WriteTo for a Buffer of NewBuffer, whose memory is the network's then:
// no data is copied, but to a Range, on this node, and where the packets to the
// destination are smaller than those the Buffer was made for, so that the first Buffers
// to a node of a smaller MTU may be. A Buffer that was read is copied. With a nil error b
// is void, and left to be Released; otherwise it is the caller's still. Errors as for
// WriteTo; ErrVoid.
func (c *PacketConn) WriteBuffer(b *Buffer, addr net.Addr) error {
	d, err := c.peer.DestOf(addr)
	if err != nil {
		return c.b.SendError(addr, err)
	}
	return c.b.WriteBuffer(d, &b.m, addr)
}

// ReadBuffer is ReadMsg without a copy: it hands out the memory that the message lies
// in. Only messages of up to 2048 bytes are copied, and what is read while the socket has
// 64 Buffers out.
func (c *PacketConn) ReadBuffer() (*Buffer, Message, error) {
	b := emptyBuffer()
	m, err := c.b.ReadBuffer(&b.m)
	if err != nil {
		b.drop()
		return nil, Message{}, backend.OpError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	return b, m.Message(), nil
}
