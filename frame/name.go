// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"iter"
)

// NameItemLen is the length of one item of a name message, in bytes.
const NameItemLen = 20

// A NameItem is one binding as it travels between nodes: a socket of the
// publishing node bound to a range.
type NameItem struct {
	Range Range
	Port  uint32
	Key   uint32 // tells bindings of one range apart
}

// A Names is a view of a message of the name distributor: bindings published or
// withdrawn by one node.
//
//	| typ |B|L|N|                 |  broadcast acknowledge          | word 1
//	|                             |  update number                  | word 4
//	|                |I|          (the network's number: broadcast) | word 5
//	|  publishing node                                              | word 6
//	|  destination node, 0 in a broadcast                           | word 7
//	|  items: type, lower, upper, port, key                         | data
//
// B: bulk, the table as it was when the link came up. L: last of the bulk. N: the
// update number counts. I: the broadcast acknowledge is invalid.
// Source: docs/spec/05-naming.md §2.
type Names struct{ Message }

// NamesFields is what a message of the name distributor says but for its items.
type NamesFields struct {
	Common
	Withdrawal      bool
	Bulk            bool
	LastBulk        bool
	NonLegacy       bool
	UpdateSeq       Seq
	BcastAckInvalid bool   // in a unicast message
	NetID           uint32 // in a broadcast
	Orig, Dest      NodeAddr
}

// ParseNames checks m as a message of the name distributor. Errors: ErrUnknown,
// ErrMalformed.
func ParseNames(m Message) (Names, error) {
	if m.User() != UserName || m.RawType() > 1 {
		return Names{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return Names{}, ErrMalformed
	}
	return Names{m}, nil
}

// Withdrawal reports whether the bindings are gone rather than new.
func (n Names) Withdrawal() bool { return n.RawType() == 1 }

// Bulk reports whether the message is a part of the initial table.
func (n Names) Bulk() bool { return n.flag(1, 28) }

// LastBulk reports whether the initial table ends here.
func (n Names) LastBulk() bool { return n.flag(1, 27) }

// NonLegacy reports whether UpdateSeq counts.
func (n Names) NonLegacy() bool { return n.flag(1, 26) }

// UpdateSeq is the update's number; in the last message of the bulk, the number
// of the first update that is not in it.
func (n Names) UpdateSeq() Seq { return Seq(n.Word(4)) }

// Orig is the node that publishes.
func (n Names) Orig() NodeAddr { return NodeAddr(n.Word(6)) }

// Len is the number of items.
func (n Names) Len() int { return len(n.Data()) / NameItemLen }

// Items yields the items in order; a remainder too short for one is ignored.
func (n Names) Items() iter.Seq[NameItem] {
	return func(yield func(NameItem) bool) {
		for d := n.Data(); len(d) >= NameItemLen; d = d[NameItemLen:] {
			w := func(i int) uint32 { return binary.BigEndian.Uint32(d[4*i:]) }
			if !yield(NameItem{Range{w(0), w(1), w(2)}, w(3), w(4)}) {
				return
			}
		}
	}
}

// Fields returns what the message says but for its items.
func (n Names) Fields() NamesFields {
	f := NamesFields{
		Common: n.common(), Withdrawal: n.Withdrawal(), Bulk: n.Bulk(), LastBulk: n.LastBulk(),
		NonLegacy: n.NonLegacy(), UpdateSeq: n.UpdateSeq(), Orig: n.Orig(),
	}
	f.Dest, _ = n.DestNode()
	if n.NonSeq() {
		f.NetID = n.NetID()
	} else {
		f.BcastAckInvalid = n.flag(5, 14)
	}
	return f
}

// Put writes the header of a message with n items into the first IntLen bytes
// of b.
func (f *NamesFields) Put(b []byte, n int) {
	f.put(b, UserName, IntLen, IntLen+n*NameItemLen, 0,
		bit(f.Withdrawal, 29)|bit(f.Bulk, 28)|bit(f.LastBulk, 27)|bit(f.NonLegacy, 26))
	putWord(b, 4, uint32(f.UpdateSeq))
	if f.NonSeq {
		putWord(b, 5, f.NetID)
	} else {
		putWord(b, 5, bit(f.BcastAckInvalid, 14))
	}
	putWord(b, 6, uint32(f.Orig))
	putWord(b, 7, uint32(f.Dest))
	putWord(b, 8, 0)
	putWord(b, 9, 0)
}

// Append adds the message to b.
func (f *NamesFields) Append(b []byte, items ...NameItem) []byte {
	b, h := grow(b, IntLen)
	f.Put(h, len(items))
	for _, it := range items {
		b = it.Append(b)
	}
	return b
}

// Append adds the item to b.
func (it NameItem) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, it.Range.Type)
	b = binary.BigEndian.AppendUint32(b, it.Range.Lower)
	b = binary.BigEndian.AppendUint32(b, it.Range.Upper)
	b = binary.BigEndian.AppendUint32(b, it.Port)
	return binary.BigEndian.AppendUint32(b, it.Key)
}
