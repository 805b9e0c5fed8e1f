// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// maxBuffers is how many Buffers a socket may have out. What is read beyond that is
// copied, and none is made.
const maxBuffers = 64

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
type Buffer struct {
	loans *lending // of the socket that has it out; nil: void
	from  lender   // the socket whose node's memory it is; nil: the program's own

	size   int
	pieces [][]byte

	// Written.
	fresh  bool // it was made, not read
	direct bool // its memory was handed out, so that its holder fills it
	spent  bool // it was sent, and waits for Release
	lent   engine.Lent
	at     int // the piece that Write fills
	filled int // bytes of it

	// Read.
	hold *netdev.Buffer // that the message is in, or nil
	own  []byte         // memory for short messages
}

var buffers = sync.Pool{New: func() any { return &Buffer{} }}

// Len is the length of the message.
func (b *Buffer) Len() int { return b.size }

// Pieces are the memory of the message, one behind the other: of one that is longer than
// a frame carries, a piece for each frame. In a new one there is what other messages left
// there: whoever asks for the Pieces, or Bytes, of one that he writes fills all of them.
func (b *Buffer) Pieces() [][]byte {
	b.direct = true
	return b.pieces
}

// Bytes is the message in one piece, which is a copy where there are several Pieces.
func (b *Buffer) Bytes() []byte {
	b.direct = true
	if len(b.pieces) == 1 {
		return b.pieces[0]
	}
	all := make([]byte, 0, b.Len())
	for _, p := range b.pieces {
		all = append(all, p...)
	}
	return all
}

// Write fills the message in, from where the last Write has ended; what is not filled in
// is sent as zeros. The error is io.ErrShortWrite where it has no room for all of p.
func (b *Buffer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && b.fresh && b.at < len(b.pieces) {
		k := copy(b.pieces[b.at][b.filled:], p)
		n, p, b.filled = n+k, p[k:], b.filled+k
		if b.filled == len(b.pieces[b.at]) {
			b.at, b.filled = b.at+1, 0
		}
	}
	if len(p) > 0 {
		err = io.ErrShortWrite
	}
	return n, err
}

// finish clears what Write has not filled in, which is older than the message.
func (b *Buffer) finish() {
	if b.direct {
		return
	}
	for ; b.at < len(b.pieces); b.at++ {
		clear(b.pieces[b.at][b.filled:])
		b.filled = 0
	}
}

// Release gives the memory back, unless it was sent, and the Buffer.
func (b *Buffer) Release() {
	if b.loans != nil {
		b.void()
	}
	if b.spent {
		b.spent = false
		buffers.Put(b)
	}
}

// void gives the memory back, or what is left of it when it was sent.
func (b *Buffer) void() {
	b.lent.Release()
	if b.hold != nil {
		b.hold.Release()
	}
	b.loans.out.Add(-1)
	clear(b.pieces)
	*b = Buffer{lent: b.lent, pieces: b.pieces[:0], own: b.own, spent: true}
}

// A lending is what a socket knows of its Buffers.
type lending struct{ out atomic.Int32 }

func (l *lending) lent() *lending { return l }

// newBuffer returns an empty Buffer of a socket, and whether that has not too many out.
func newBuffer(l *lending, from lender) (b *Buffer, ok bool) {
	ok = l.out.Add(1) <= maxBuffers
	b = buffers.Get().(*Buffer)
	b.loans, b.from, b.spent = l, from, false
	return b, ok
}

// NewBuffer makes a message of size bytes, up to 66000, to be filled in and sent by
// WriteBuffer. It waits for memory as a write does, until the write deadline. Errors,
// inside *net.OpError: ErrTooLong, ErrNoRoom when the socket has 64 Buffers out,
// net.ErrClosed, *BlockedError.
func (c *PacketConn) NewBuffer(size int) (*Buffer, error) {
	b, err := c.b.NewBuffer(size)
	if err != nil {
		return nil, opError("write", c.b.Network(), c.b.Addr(), nil, err)
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
	d, err := c.peer.destOf(addr)
	if err != nil {
		return c.b.sendError(addr, err)
	}
	return c.b.WriteBuffer(d, b, addr)
}

// ReadBuffer is ReadMsg without a copy: it hands out the memory that the message lies
// in. Only messages of up to 2048 bytes are copied, and what is read while the socket has
// 64 Buffers out.
func (c *PacketConn) ReadBuffer() (*Buffer, Message, error) {
	b, m, err := c.b.ReadBuffer()
	if err != nil {
		return nil, Message{}, opError("read", c.b.Network(), c.b.Addr(), nil, err)
	}
	return b, m.message(), nil
}
