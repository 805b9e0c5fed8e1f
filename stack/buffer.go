// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

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
	c lender // nil: void

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
	if b.c != nil {
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
	b.c.loans().out.Add(-1)
	clear(b.pieces)
	*b = Buffer{lent: b.lent, pieces: b.pieces[:0], own: b.own, spent: true}
}

// A lender is a socket that has Buffers out.
type lender interface {
	sender
	loans() *lending
	lend(now time.Duration, m *engine.Lent, n int) error
	putLent(now time.Duration, d dest, m *engine.Lent) error
}

// A lending is what a socket knows of its Buffers.
type lending struct{ out atomic.Int32 }

func (l *lending) loans() *lending { return l }

// newBuffer returns an empty Buffer of a socket, and whether that has not too many out.
func newBuffer(c lender) (b *Buffer, ok bool) {
	ok = c.loans().out.Add(1) <= maxBuffers
	b = buffers.Get().(*Buffer)
	b.c, b.spent = c, false
	return b, ok
}

// makeBuffer makes a Buffer of size bytes, waiting for memory.
func makeBuffer(n *Node, c lender, size int) (*Buffer, error) {
	if n.far != nil {
		return newBufferFar(c, size)
	}
	b, ok := newBuffer(c)
	err := error(ErrNoRoom)
	if ok {
		b.size, b.fresh = size, true
		if err = n.submit((*blank)(b), dest{}, nil); err != nil {
			err = n.retry(context.Background(), (*blank)(b), dest{}, nil, err)
		}
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	b.pieces = b.lent.Pieces(b.pieces[:0])
	return b, nil
}

// A blank is a Buffer that waits for memory.
type blank Buffer

func (b *blank) writes() *writeHalf { return b.c.writes() }

func (b *blank) put(now time.Duration, d dest, data []byte) error {
	return b.c.lend(now, &b.lent, b.size)
}

func (b *blank) waits(d dest, err error) bool { return blocks(err) }

// sendBuffer sends a Buffer of a socket, by copying where it is another's or was read.
func sendBuffer(n *Node, c lender, d dest, b *Buffer) error {
	if b.c == nil {
		return ErrVoid
	}
	var s sender = c
	var data []byte
	if b.fresh {
		b.finish()
	}
	if b.c == c && b.fresh {
		s = b
	} else {
		data = b.Bytes()
	}
	err := n.submitSized(s, d, data, b.Len())
	if err != nil {
		err = n.retry(context.Background(), s, d, data, err)
	}
	if err == nil {
		b.void()
	}
	return err
}

func (b *Buffer) writes() *writeHalf { return b.c.writes() }

func (b *Buffer) put(now time.Duration, d dest, data []byte) error {
	return b.c.putLent(now, d, &b.lent)
}

func (b *Buffer) waits(d dest, err error) bool { return b.c.waits(d, err) }

// fill makes b what was read: data, which hold keeps if that is not nil. It is copied
// when its socket has too many out.
func (b *Buffer) fill(data []byte, hold *netdev.Buffer, counted bool) {
	if hold == nil && len(data) <= engine.CopyBreak {
		b.own = data
	}
	if hold != nil && !counted {
		data = append([]byte(nil), data...)
		hold.Release()
		hold = nil
	}
	b.size, b.hold = len(data), hold
	b.pieces = append(b.pieces[:0], data)
}

// NewBuffer makes a message of size bytes, up to 66000, to be filled in and sent by
// WriteBuffer. It waits for memory as a write does, until the write deadline. Errors,
// inside *net.OpError: ErrTooLong, ErrNoRoom when the socket has 64 Buffers out,
// net.ErrClosed, *BlockedError.
func (c *PacketConn) NewBuffer(size int) (*Buffer, error) {
	b, err := makeBuffer(c.n, c, size)
	if err != nil {
		return nil, opError("write", c.network, c.Addr(), nil, err)
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
	d, err := c.destOr(addr)
	if err == nil && c.far != nil {
		return c.writeBufferFar(d, b, addr)
	}
	if err == nil {
		err = sendBuffer(c.n, c, d, b)
	}
	if err != nil {
		return c.sendError(addr, err)
	}
	return nil
}

// lend implements lender.
func (c *PacketConn) lend(now time.Duration, m *engine.Lent, n int) error {
	return c.port.Lend(now, m, n)
}

// putLent implements lender.
func (c *PacketConn) putLent(now time.Duration, d dest, m *engine.Lent) error {
	switch d.kind {
	case toService:
		return c.port.SendLentService(now, d.service(), m)
	case toRange:
		return c.port.SendLentRange(now, d.all(), m)
	}
	return c.port.SendLent(now, d.socket(), m)
}

// ReadBuffer is ReadMsg without a copy: it hands out the memory that the message lies
// in. Only messages of up to 2048 bytes are copied, and what is read while the socket has
// 64 Buffers out.
func (c *PacketConn) ReadBuffer() (*Buffer, Message, error) {
	b, m, err := c.readBuffer()
	if err != nil {
		return nil, Message{}, opError("read", c.network, c.Addr(), nil, err)
	}
	return b, m, nil
}

func (c *PacketConn) readBuffer() (b *Buffer, m Message, err error) {
	if c.far != nil {
		b, err = readBufferFar(c, func(keep func([]byte)) (err error) {
			_, m, err = c.readFar(context.Background(), nil, keep)
			return err
		})
		return b, m, err
	}
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	err = c.await(n, &c.closed, func() bool {
		if c.port.Pending() == 0 {
			return false
		}
		b = c.takeBuffer(&m)
		return true
	}, func() bool { return c.port.Pending() > 0 })
	return b, m, err
}

// takeBuffer hands out the first message that waits.
func (c *PacketConn) takeBuffer(m *Message) *Buffer {
	b, counted := newBuffer(c)
	data, hold, r, _ := c.port.Take(b.own)
	b.fill(data, hold, counted)
	*m = c.message(&r, r.Len)
	return b
}
