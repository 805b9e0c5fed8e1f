// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"io"
	"sync/atomic"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// maxBuffers is how many Buffers a socket may have out. What is read beyond that is
// copied, and none is made.
const maxBuffers = 64

// A Buffer is the memory of a stack.Buffer.
type Buffer struct {
	Loans *Lending // of the socket that has it out; nil: void
	From  any      // the socket whose node's memory it is; nil: the program's own

	Size   int
	Pieces [][]byte

	// Written.
	Fresh  bool // it was made, not read
	direct bool // its memory was handed out, so that its holder fills it
	spent  bool // it was sent, and waits for Release
	Lent   engine.Lent
	at     int // the piece that Write fills
	filled int // bytes of it

	// Read.
	Hold *netdev.Buffer // that the message is in, or nil
	Own  []byte         // memory for short messages
}

// Open makes it an empty one of a socket, and reports whether that has not too many out.
func (m *Buffer) Open(l *Lending, from any) (ok bool) {
	m.Loans, m.From, m.spent = l, from, false
	return l.out.Add(1) <= maxBuffers
}

// List returns the pieces, for a holder who fills them.
func (m *Buffer) List() [][]byte {
	m.direct = true
	return m.Pieces
}

// Bytes is the message in one piece.
func (m *Buffer) Bytes() []byte {
	m.direct = true
	if len(m.Pieces) == 1 {
		return m.Pieces[0]
	}
	all := make([]byte, 0, m.Size)
	for _, p := range m.Pieces {
		all = append(all, p...)
	}
	return all
}

// Write fills the message in. The error is io.ErrShortWrite.
func (m *Buffer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && m.Fresh && m.at < len(m.Pieces) {
		k := copy(m.Pieces[m.at][m.filled:], p)
		n, p, m.filled = n+k, p[k:], m.filled+k
		if m.filled == len(m.Pieces[m.at]) {
			m.at, m.filled = m.at+1, 0
		}
	}
	if len(p) > 0 {
		err = io.ErrShortWrite
	}
	return n, err
}

// Finish clears what write has not filled in, which is older than the message.
func (m *Buffer) Finish() {
	if m.direct {
		return
	}
	for ; m.at < len(m.Pieces); m.at++ {
		clear(m.Pieces[m.at][m.filled:])
		m.filled = 0
	}
}

// Release gives back what is held, and reports whether it may be used again: once.
func (m *Buffer) Release() (over bool) {
	if m.Loans != nil {
		m.Void()
	}
	over = m.spent
	m.spent = false
	return over
}

// Void gives the memory back, or what is left of it when it was sent.
func (m *Buffer) Void() {
	m.Lent.Release()
	if m.Hold != nil {
		m.Hold.Release()
	}
	m.Loans.out.Add(-1)
	clear(m.Pieces)
	*m = Buffer{Lent: m.Lent, Pieces: m.Pieces[:0], Own: m.Own, spent: true}
}

// A Lending is what a socket knows of its Buffers.
type Lending struct{ out atomic.Int32 }

func (l *Lending) Lent() *Lending { return l }
