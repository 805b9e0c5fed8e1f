// SPDX-License-Identifier: Apache-2.0

package frame

import "encoding/binary"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=FragmentType -linecomment

// A FragmentType is a fragment's place in its message.
type FragmentType uint8

const (
	FirstFragment  FragmentType = iota // first
	MiddleFragment                     // middle
	LastFragment                       // last
)

// A Fragment is a view of a piece of a message too large for a packet. The data
// of all pieces, in order, is the message with its header.
// Source: docs/spec/01-wire.md §7.
type Fragment struct{ Message }

// FragmentFields is what a fragment says of itself, for writing.
type FragmentFields struct {
	Common
	Type       FragmentType
	Number     uint16 // from 1; informational
	Importance Importance
	NetID      uint32   // on the broadcast link
	Orig, Dest NodeAddr // Dest is 0 on the broadcast link
}

// ParseFragment checks m as a fragment. Errors: ErrUnknown, ErrMalformed.
func ParseFragment(m Message) (Fragment, error) {
	if m.User() != UserFragment || m.RawType() > uint8(LastFragment) {
		return Fragment{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return Fragment{}, ErrMalformed
	}
	return Fragment{m}, nil
}

// Type is the fragment's place in its message.
func (f Fragment) Type() FragmentType { return FragmentType(f.RawType()) }

// Number is the fragment's number, from 1; receivers do not depend on it.
func (f Fragment) Number() uint16 { return uint16(f.Word(4) >> 16) }

// Original returns the header of the message of which the fragment is the first piece, and as
// much of its data as is in the piece; ok is false when it is another piece, or the header is
// not sound or not all there.
func (f Fragment) Original() (m Message, ok bool) {
	d := f.Data()
	if f.Type() != FirstFragment || len(d) < ShortLen {
		return Message{}, false
	}
	m = Message{d, int(binary.BigEndian.Uint32(d)>>21&0xf) * 4}
	return m, m.Word(0)>>29 == 2 && m.hlen >= ShortLen && m.hlen <= len(d)
}

// Fields returns what the fragment says of itself.
func (f Fragment) Fields() FragmentFields {
	x := FragmentFields{
		Common: f.common(), Type: f.Type(), Number: f.Number(), Importance: Importance(f.bits(9, 0, 3)),
		Orig: NodeAddr(f.Word(6)), Dest: NodeAddr(f.Word(7)),
	}
	if f.NonSeq() {
		x.NetID = f.NetID()
	}
	return x
}

// Put writes the header of a fragment with n bytes of the message into the first
// IntLen bytes of b.
func (f *FragmentFields) Put(b []byte, n int) {
	f.put(b, UserFragment, IntLen, IntLen+n, 0, uint32(f.Type)<<29)
	clear(b[4*4 : IntLen])
	putWord(b, 4, uint32(f.Number)<<16)
	if f.NonSeq {
		putWord(b, 5, f.NetID)
	}
	putWord(b, 6, uint32(f.Orig))
	putWord(b, 7, uint32(f.Dest))
	putWord(b, 9, uint32(f.Importance&7))
}

// Append adds the fragment, with its piece of the message, to b.
func (f *FragmentFields) Append(b, piece []byte) []byte {
	b, h := grow(b, IntLen)
	f.Put(h, len(piece))
	return append(b, piece...)
}

// ClaimedSize is the size, in bytes, that the message beginning with b says it
// has. b must be at least ShortLen bytes long.
func ClaimedSize(b []byte) int { return int(binary.BigEndian.Uint32(b) & 0x1ffff) }
