// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"iter"
)

// A Bundle is a view of a packet that carries several whole messages, each at an
// offset that is a multiple of 4 bytes. Source: docs/spec/01-wire.md §6.
type Bundle struct{ Message }

// ParseBundle checks m as a bundle; what is in it is checked by Messages.
// Errors: ErrUnknown, ErrMalformed.
func ParseBundle(m Message) (Bundle, error) {
	if m.User() != UserBundler {
		return Bundle{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return Bundle{}, ErrMalformed
	}
	return Bundle{m}, nil
}

// Count is the number of messages the sender says are inside.
func (u Bundle) Count() int { return int(u.Word(9) >> 16) }

// Messages yields the messages in order. At the first that is not sound it
// yields the error and stops.
func (u Bundle) Messages() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for d := u.Data(); len(d) >= ShortLen; {
			m, err := Parse(d)
			if !yield(m, err) || err != nil {
				return
			}
			d = d[min(len(d), (len(m.b)+3)&^3):]
		}
	}
}

// BundleFields is what the packet around the messages says, for writing.
type BundleFields struct {
	Common
	Count      uint16
	Importance Importance
	NetID      uint32   // on the broadcast link
	Orig, Dest NodeAddr // Dest is 0 on the broadcast link
}

// Fields returns what the packet around the messages says.
func (u Bundle) Fields() BundleFields {
	f := BundleFields{
		Common: u.common(), Count: uint16(u.Count()), Importance: Importance(u.bits(9, 0, 3)),
		Orig: NodeAddr(u.Word(6)), Dest: NodeAddr(u.Word(7)),
	}
	if u.NonSeq() {
		f.NetID = u.NetID()
	}
	return f
}

// Put writes the header of the packet around n bytes of messages into the first
// IntLen bytes of b.
func (f *BundleFields) Put(b []byte, n int) {
	f.put(b, UserBundler, IntLen, IntLen+n, 0, 0)
	clear(b[4*4 : IntLen])
	if f.NonSeq {
		putWord(b, 5, f.NetID)
	}
	putWord(b, 6, uint32(f.Orig))
	putWord(b, 7, uint32(f.Dest))
	putWord(b, 9, uint32(f.Count)<<16|uint32(f.Importance&7))
}

// Append adds the packet around data, which is messages already laid out, to b.
func (f *BundleFields) Append(b, data []byte) []byte {
	b, h := grow(b, IntLen)
	f.Put(h, len(data))
	return append(b, data...)
}

// CountIn notes one more message in a built bundle, which reaches to the end of b
// now.
func CountIn(b []byte) {
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)&^0x1ffff|uint32(len(b)))
	binary.BigEndian.PutUint16(b[4*9:], binary.BigEndian.Uint16(b[4*9:])+1)
}
