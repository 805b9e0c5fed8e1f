// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A lender is a socket whose Buffers are its node's memory.
type lender interface {
	sender
	Lent() *backend.Lending
	lend(now time.Duration, m *engine.Lent, n int) error
	putLent(now time.Duration, d backend.Dest, m *engine.Lent) error
}

// makeBuffer makes b a Buffer of size bytes, waiting for memory.
func makeBuffer(n *Node, c lender, b *backend.Buffer, size int) error {
	if !b.Open(c.Lent(), c) {
		return socket.ErrNoRoom
	}
	b.Size, b.Fresh = size, true
	err := n.submit((*blank)(b), backend.Dest{}, nil)
	if err != nil {
		err = n.retry(context.Background(), (*blank)(b), backend.Dest{}, nil, err)
	}
	if err == nil {
		b.Pieces = b.Lent.Pieces(b.Pieces[:0])
	}
	return err
}

// A blank is a Buffer that waits for memory.
type blank backend.Buffer

func (b *blank) writes() *writeHalf { return b.From.(lender).writes() }

func (b *blank) put(now time.Duration, d backend.Dest, data []byte) error {
	return b.From.(lender).lend(now, &b.Lent, b.Size)
}

func (b *blank) waits(d backend.Dest, err error) bool { return blocks(err) }

// sendBuffer sends a Buffer of a socket, by copying where it is another's or was read.
func sendBuffer(n *Node, c lender, d backend.Dest, b *backend.Buffer) error {
	if b.Loans == nil {
		return socket.ErrVoid
	}
	var s sender = c
	var data []byte
	if b.Fresh {
		b.Finish()
	}
	if b.From == c && b.Fresh {
		s = (*filledBuffer)(b)
	} else {
		data = b.Bytes()
	}
	err := n.submitSized(s, d, data, b.Size)
	if err != nil {
		err = n.retry(context.Background(), s, d, data, err)
	}
	if err == nil {
		b.Void()
	}
	return err
}

// A filledBuffer is a Buffer that is sent.
type filledBuffer backend.Buffer

func (b *filledBuffer) writes() *writeHalf { return b.From.(lender).writes() }

func (b *filledBuffer) put(now time.Duration, d backend.Dest, data []byte) error {
	return b.From.(lender).putLent(now, d, &b.Lent)
}

func (b *filledBuffer) waits(d backend.Dest, err error) bool { return b.From.(lender).waits(d, err) }

// fillBuffer makes b what was read: data, which hold keeps if that is not nil. It is copied
// when its socket has too many out.
func fillBuffer(b *backend.Buffer, data []byte, hold *netdev.Buffer, counted bool) {
	if hold == nil && len(data) <= engine.CopyBreak {
		b.Own = data
	}
	if hold != nil && !counted {
		data = append([]byte(nil), data...)
		hold.Release()
		hold = nil
	}
	b.Size, b.Hold = len(data), hold
	b.Pieces = append(b.Pieces[:0], data)
}
