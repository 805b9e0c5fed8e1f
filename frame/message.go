// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"slices"
)

// Header lengths, in bytes. Source: docs/spec/01-wire.md §2.
const (
	ShortLen = 24 // connection data
	BasicLen = 32 // direct messages
	NamedLen = 40 // named messages
	McastLen = 44 // multicast and group messages
	IntLen   = 40 // messages between nodes
	DiscLen  = 60 // discovery
)

// A Message is a read-only view of one TIPC message, in the frame's own memory:
// what all messages have. ParsePayload, ParseState and their kin make views of
// the kinds.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-----+-------+-------+-+-+-+-+---------------------------------+
//	| ver | user  | hsize |N|D|S|Y|  message size, bytes            | word 0
//	+-----+-------+-------+-+-+-+-+---------------------------------+
//	| typ |  of the kind          |  broadcast acknowledge          | word 1
//	+-----+-----------------------+---------------------------------+
//	|  link acknowledge           |  link sequence                  | word 2
//	+-----------------------------+---------------------------------+
//	|  previous node: who put the message on the wire               | word 3
//	+---------------------------------------------------------------+
//
// hsize counts words of 4 bytes. Source: docs/spec/01-wire.md §2.
type Message struct {
	b    []byte // cut to the message's size
	hlen int
}

// Parse checks what every message must keep to, cuts b to the message's size and
// returns a view that shares memory with b. When err is nil no method can panic.
// Errors: ErrTruncated, ErrVersion, ErrEncrypted, ErrMalformed.
// Source: docs/spec/01-wire.md §8.
func Parse(b []byte) (Message, error) {
	if len(b) < ShortLen {
		return Message{}, ErrTruncated
	}
	w := binary.BigEndian.Uint32(b)
	hlen, size := int(w>>21&0xf)*4, int(w&0x1ffff)
	switch {
	case w>>29 == 7:
		return Message{}, ErrEncrypted
	case w>>29 != 2:
		return Message{}, ErrVersion
	case hlen < ShortLen || hlen > MaxHeader || size < hlen || size-hlen > MaxPayload:
		return Message{}, ErrMalformed
	case size > len(b):
		return Message{}, ErrTruncated
	}
	return Message{b[:size:size], hlen}, nil
}

// ParseHead is Parse for the beginning of a message whose rest is elsewhere: m may end anywhere
// behind the header, and has whole bytes when it is complete.
func ParseHead(b []byte) (m Message, whole int, err error) {
	if len(b) < ShortLen {
		return Message{}, 0, ErrTruncated
	}
	w := binary.BigEndian.Uint32(b)
	hlen, whole := int(w>>21&0xf)*4, int(w&0x1ffff)
	switch {
	case w>>29 != 2:
		return Message{}, 0, ErrVersion
	case hlen < ShortLen || hlen > MaxHeader || whole < hlen || whole-hlen > MaxPayload:
		return Message{}, 0, ErrMalformed
	case hlen > len(b):
		return Message{}, 0, ErrTruncated
	}
	return Message{b[:min(whole, len(b))], hlen}, whole, nil
}

// Word returns word i of the header, from 0 to HeaderLen()/4-1, for what no kind has a name for.
func (m Message) Word(i int) uint32 { return binary.BigEndian.Uint32(m.b[4*i:]) }

// bits returns the width bits of word i from bit low upwards.
func (m Message) bits(i, low, width int) uint32 { return m.Word(i) >> low & (1<<width - 1) }

func (m Message) flag(i, bit int) bool { return m.Word(i)>>bit&1 != 0 }

// Bytes returns the whole message.
func (m Message) Bytes() []byte { return m.b }

// Data returns what follows the header.
func (m Message) Data() []byte { return m.b[m.hlen:] }

// HeaderLen returns the header's length in bytes.
func (m Message) HeaderLen() int { return m.hlen }

// User says whom the message is for.
func (m Message) User() User { return User(m.bits(0, 25, 4)) }

// NonSeq reports whether the message stands outside the sequence between two
// nodes: discovery, and all that goes over the broadcast link.
func (m Message) NonSeq() bool { return m.flag(0, 20) }

// RawType is the type within the user; the kinds have names for it.
func (m Message) RawType() uint8 { return uint8(m.bits(1, 29, 3)) }

// BcastAck is the last broadcast packet the sender has received in order from
// the destination. Not every kind has it.
func (m Message) BcastAck() Seq { return Seq(m.Word(1)) }

// BcastAckInvalid reports whether all that is said of broadcast is to be ignored. It
// is void but for the link protocol, names and the opening of the broadcast link.
func (m Message) BcastAckInvalid() bool { return m.flag(5, 14) }

// Ack is the last packet the sender has received in order on this link.
func (m Message) Ack() Seq { return Seq(m.Word(2) >> 16) }

// Seq is the packet's own place in the link's sequence.
func (m Message) Seq() Seq { return Seq(m.Word(2)) }

// Prev is the node that put the message on the wire.
func (m Message) Prev() NodeAddr { return NodeAddr(m.Word(3)) }

// DestNode is the node the message is for, and ok is false where the header is
// too short to say.
func (m Message) DestNode() (a NodeAddr, ok bool) {
	if m.hlen < BasicLen || m.User() == UserDiscovery {
		return 0, false
	}
	return NodeAddr(m.Word(7)), true
}

// NetID is the network's number in a message of the broadcast link.
func (m Message) NetID() uint32 { return m.Word(5) }

// Selector is the originating port, whose lowest bit chooses among parallel
// links.
func (m Message) Selector() uint32 { return m.Word(4) }

// Importance is the class in which the message waits for a busy link: payload
// by its user, unless it comes back with an error; bundles and fragments by what
// is in them; all else System. Source: docs/spec/01-wire.md §3.1.
func (m Message) Importance() Importance {
	switch u := m.User(); {
	case u.IsPayload() && m.bits(1, 25, 4) == 0:
		return Importance(u)
	case (u == UserBundler || u == UserFragment) && m.hlen >= IntLen:
		return min(Importance(m.bits(9, 0, 3)), System)
	}
	return System
}

// Common is the part of the fields structs that all messages in a link's
// sequence share.
type Common struct {
	Seq      Seq
	Ack      Seq
	BcastAck Seq
	Prev     NodeAddr
	NonSeq   bool
}

func (m Message) common() Common {
	return Common{Seq: m.Seq(), Ack: m.Ack(), BcastAck: m.BcastAck(), Prev: m.Prev(), NonSeq: m.NonSeq()}
}

// put writes words 0 to 3; w1 holds what the kind adds to word 1.
func (c Common) put(b []byte, u User, hlen, size int, w0, w1 uint32) {
	w0 |= 2<<29 | uint32(u)<<25 | uint32(hlen/4)<<21 | uint32(size)
	if c.NonSeq {
		w0 |= 1 << 20
	}
	putWord(b, 0, w0)
	putWord(b, 1, w1|uint32(c.BcastAck))
	putWord(b, 2, uint32(c.Ack)<<16|uint32(c.Seq))
	putWord(b, 3, uint32(c.Prev))
}

func putWord(b []byte, i int, w uint32) { binary.BigEndian.PutUint32(b[4*i:], w) }

// StampAcks writes both acknowledgements into a built message that is about to
// leave; its other words stay.
func StampAcks(b []byte, ack, bcastAck Seq) {
	binary.BigEndian.PutUint16(b[6:], uint16(bcastAck))
	binary.BigEndian.PutUint16(b[8:], uint16(ack))
}

// UserOf is the user of a built message.
func UserOf(b []byte) User { return User(b[0] >> 1 & 0xf) }

// StampSeq writes the link's sequence number into a built message.
func StampSeq(b []byte, seq Seq) { binary.BigEndian.PutUint16(b[10:], uint16(seq)) }

// StampBroadcast makes a built message a packet of the broadcast link that is about to
// leave: it has its number there, the network's number where a port would be, and
// acknowledges nothing. Source: docs/spec/04-broadcast.md §1.1.
func StampBroadcast(b []byte, seq Seq, netID uint32) {
	b[1] |= 1 << 4 // outside the sequence between two nodes
	binary.BigEndian.PutUint16(b[6:], 0)
	binary.BigEndian.PutUint32(b[8:], uint32(seq))
	binary.BigEndian.PutUint32(b[20:], netID)
}

func bit(set bool, n int) uint32 {
	if set {
		return 1 << n
	}
	return 0
}

// grow makes room for n more bytes at the end of b, all zero.
func grow(b []byte, n int) (whole, fresh []byte) {
	k := len(b)
	b = slices.Grow(b, n)[:k+n]
	clear(b[k:])
	return b, b[k:]
}
