// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/engine"
)

// A lender is a socket whose Buffers are its node's memory.
type lender interface {
	sender
	lent() *lending
	lend(now time.Duration, m *engine.Lent, n int) error
	putLent(now time.Duration, d dest, m *engine.Lent) error
}

// makeBuffer makes a Buffer of size bytes, waiting for memory.
func makeBuffer(n *localNode, c lender, size int) (*Buffer, error) {
	b, ok := newBuffer(c.lent(), c)
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

func (b *blank) writes() *writeHalf { return b.from.writes() }

func (b *blank) put(now time.Duration, d dest, data []byte) error {
	return b.from.lend(now, &b.lent, b.size)
}

func (b *blank) waits(d dest, err error) bool { return blocks(err) }

// sendBuffer sends a Buffer of a socket, by copying where it is another's or was read.
func sendBuffer(n *localNode, c lender, d dest, b *Buffer) error {
	if b.loans == nil {
		return ErrVoid
	}
	var s sender = c
	var data []byte
	if b.fresh {
		b.finish()
	}
	if b.from == c && b.fresh {
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

func (b *Buffer) writes() *writeHalf { return b.from.writes() }

func (b *Buffer) put(now time.Duration, d dest, data []byte) error {
	return b.from.putLent(now, d, &b.lent)
}

func (b *Buffer) waits(d dest, err error) bool { return b.from.waits(d, err) }

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
