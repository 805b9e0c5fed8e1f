// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// newBuffer makes b a Buffer of size bytes of l, the socket's: memory of this program.
func (s *Socket) newBuffer(l *backend.Lending, b *backend.Buffer, size int) error {
	ok := b.Open(l, nil)
	switch {
	case s.IsClosed():
		return net.ErrClosed
	case size < 0 || size > frame.MaxPayload:
		return &engine.LengthError{Size: size, Most: frame.MaxPayload}
	case !ok:
		return socket.ErrNoRoom
	}
	b.Size, b.Fresh = size, true
	if cap(b.Own) < size {
		b.Own = make([]byte, size)
	}
	b.Pieces = append(b.Pieces[:0], b.Own[:size])
	return nil
}

// dataOf is what a Buffer that is sent has in it. Errors: ErrVoid.
func dataOf(b *backend.Buffer) ([]byte, error) {
	if b.Loans == nil {
		return nil, socket.ErrVoid
	}
	if b.Fresh {
		b.Finish()
	}
	return b.Bytes(), nil
}

// copyTo makes b a Buffer of l with a copy of data, as ReadBuffer hands it out.
func copyTo(b *backend.Buffer, l *backend.Lending, data []byte) {
	b.Open(l, nil)
	b.Own = append(b.Own[:0], data...)
	b.Size = len(data)
	b.Pieces = append(b.Pieces[:0], b.Own)
}
