// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"io"
	"net"
	"sync"

	"github.com/utipc/utipc/frame"
)

var (
	_ io.ReaderFrom = (*Conn)(nil)
	_ io.WriterTo   = (*Conn)(nil)
)

// Blocks of ReadFrom, in bytes. Of messages they are those of io.Copy, which readers may count on.
const (
	streamBlock = 64 << 10
	packetBlock = 32 << 10
)

// blocks are for ReadFrom and WriteTo: each holds the longest message.
var blocks = sync.Pool{New: func() any { return new([frame.MaxPayload]byte) }}

// WriteBuffers writes all of v, nothing in between: of a "tipc" stream the bytes, which one Write of
// them would send with one copy more, of a "tipcpacket" one message. It takes what it has written off
// v, as (*net.Buffers).WriteTo does, which calls Write for each buffer. Errors as for Write.
func (c *Conn) WriteBuffers(v *net.Buffers) (int64, error) {
	n, err := c.b.WriteBuffers(*v)
	for left := n; len(*v) > 0; {
		if b := &(*v)[0]; int64(len(*b)) > left {
			*b = (*b)[left:]
			break
		}
		left -= int64(len((*v)[0]))
		(*v)[0] = nil
		*v = (*v)[1:]
	}
	return n, err
}

// ReadFrom writes what r gives until io.EOF, in blocks of 64 KiB, of a "tipcpacket" messages of up
// to 32 KiB. It is what io.Copy calls, and has no memory of its own to make. Errors: of r, and as
// for Write.
func (c *Conn) ReadFrom(r io.Reader) (n int64, err error) {
	room := blocks.Get().(*[frame.MaxPayload]byte)
	defer blocks.Put(room)
	block := room[:packetBlock]
	if c.b.Network() == "tipc" {
		block = room[:streamBlock]
	}
	for {
		k, readErr := r.Read(block)
		if k > 0 {
			done, err := c.Write(block[:k])
			if n += int64(done); err != nil {
				return n, err
			}
		}
		switch readErr {
		case nil:
		case io.EOF:
			return n, nil
		default:
			return n, readErr
		}
	}
}

// WriteTo reads until io.EOF and writes it to w, of a "tipcpacket" message by message. It is what
// io.Copy calls. A message that lies in the node's memory, see ReadBuffer, is written from there,
// without a copy; short ones of a stream are written together. Errors as for Read, and of w.
func (c *Conn) WriteTo(w io.Writer) (n int64, err error) {
	room := blocks.Get().(*[frame.MaxPayload]byte)
	defer blocks.Put(room)
	b := emptyBuffer()
	defer b.drop()
	for {
		k, err := c.b.ReadNext(room[:], &b.m)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, c.readError(err)
		}
		if k > 0 {
			done, err := writeWhole(w, room[:k])
			if n += int64(done); err != nil {
				return n, err
			}
			continue
		}
		for _, p := range b.Pieces() {
			done, err := writeWhole(w, p)
			if n += int64(done); err != nil {
				return n, err
			}
		}
		b.m.Release()
	}
}

// writeWhole is Write of w, whose error says so when it took a part.
func writeWhole(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	if n < len(b) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}
