// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"net"

	"github.com/utipc/utipc/frame"
)

// newBuffer makes a Buffer of size bytes for l, the socket's: memory of this program.
func (s *remoteSocket) newBuffer(l *lending, size int) (*Buffer, error) {
	b, ok := newBuffer(l, nil)
	switch {
	case s.isClosed():
		b.Release()
		return nil, net.ErrClosed
	case size < 0 || size > frame.MaxPayload:
		b.Release()
		return nil, ErrTooLong
	case !ok:
		b.Release()
		return nil, ErrNoRoom
	}
	b.size, b.fresh = size, true
	if cap(b.own) < size {
		b.own = make([]byte, size)
	}
	b.pieces = append(b.pieces[:0], b.own[:size])
	return b, nil
}

// data is what a Buffer that is sent has in it. Errors: ErrVoid.
func (b *Buffer) data() ([]byte, error) {
	if b.loans == nil {
		return nil, ErrVoid
	}
	if b.fresh {
		b.finish()
	}
	return b.Bytes(), nil
}

// copied is a Buffer with a copy of data, as ReadBuffer hands it out.
func (l *lending) copied(data []byte) *Buffer {
	b, _ := newBuffer(l, nil)
	b.own = append(b.own[:0], data...)
	b.size = len(data)
	b.pieces = append(b.pieces[:0], b.own)
	return b
}
