// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"math"
	"sync"

	"github.com/utipc/utipc/frame"
)

// gatherAlone is the length from which a buffer of a stream is not copied to share a message with
// others.
const gatherAlone = 8 << 10

// A Gather makes messages of several buffers, which it does not change: short ones are joined by a
// copy, of a stream long ones are cut where they lie.
type Gather struct {
	b    []byte // what is left of the buffer where it stands
	rest [][]byte
	from int // length from which a buffer is not joined with others
	room *[frame.MaxPayload]byte
}

var gatherRooms = sync.Pool{New: func() any { return new([frame.MaxPayload]byte) }}

// NewGather begins with b, behind which are those of v. Without stream all are one message, of at
// most frame.MaxPayload bytes. It is to be ended with Close.
func NewGather(b []byte, v [][]byte, stream bool) Gather {
	if stream {
		return Gather{b: b, rest: v, from: gatherAlone}
	}
	return Gather{b: b, rest: v, from: math.MaxInt}
}

// Next returns the next message, which is valid until the next call, or nothing.
func (g *Gather) Next() []byte {
	n := 0
	for n < frame.MaxPayload {
		switch {
		case len(g.b) == 0 && len(g.rest) == 0:
			if n == 0 {
				return nil
			}
			return g.room[:n]
		case len(g.b) == 0:
			g.b, g.rest = g.rest[0], g.rest[1:]
			continue
		case len(g.b) >= g.from && n > 0:
			return g.room[:n]
		case len(g.b) >= g.from || n == 0 && len(g.rest) == 0:
			return g.cut(min(len(g.b), frame.MaxPayload))
		case g.room == nil:
			g.room = gatherRooms.Get().(*[frame.MaxPayload]byte)
		}
		n += len(g.cut(copy(g.room[n:], g.b)))
	}
	return g.room[:]
}

// cut takes k bytes off the buffer where it stands.
func (g *Gather) cut(k int) (b []byte) {
	b, g.b = g.b[:k], g.b[k:]
	return b
}

// Close gives back what Next has used.
func (g *Gather) Close() {
	if g.room != nil {
		gatherRooms.Put(g.room)
		g.room = nil
	}
}

// SizeOf is how many bytes several buffers have.
func SizeOf(v [][]byte) (size int) {
	for _, b := range v {
		size += len(b)
	}
	return size
}
