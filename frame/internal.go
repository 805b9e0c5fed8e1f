// SPDX-License-Identifier: Apache-2.0

package frame

// A BcastInit is a view of the message that opens the broadcast link to a peer:
// the first packet of the first link. Word 4's upper half is the last broadcast
// packet sent, word 5 says that the broadcast acknowledge is not valid yet.
// Source: docs/spec/01-wire.md §4.2.
type BcastInit struct{ Message }

// BcastInitFields is what a BcastInit says, for writing.
type BcastInitFields struct {
	Common
	LastBcast       Seq
	BcastAckInvalid bool
	Orig, Dest      NodeAddr
}

// ParseBcastInit checks m as the opening of the broadcast link. The old message
// of the same user on the broadcast link itself is ErrUnknown. Errors:
// ErrUnknown, ErrMalformed.
func ParseBcastInit(m Message) (BcastInit, error) {
	if m.User() != UserBroadcast || m.RawType() != 0 || m.NonSeq() {
		return BcastInit{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return BcastInit{}, ErrMalformed
	}
	return BcastInit{m}, nil
}

// LastBcast is the last broadcast packet the peer sent before.
func (i BcastInit) LastBcast() Seq { return Seq(i.Word(4) >> 16) }

// Fields returns what the message says.
func (i BcastInit) Fields() BcastInitFields {
	return BcastInitFields{
		Common: i.common(), LastBcast: i.LastBcast(), BcastAckInvalid: i.flag(5, 14),
		Orig: NodeAddr(i.Word(6)), Dest: NodeAddr(i.Word(7)),
	}
}

// Append adds the message to b.
func (f *BcastInitFields) Append(b []byte) []byte {
	b, h := grow(b, IntLen)
	f.put(h, UserBroadcast, IntLen, IntLen, 0, 0)
	putWord(h, 4, uint32(f.LastBcast)<<16)
	putWord(h, 5, bit(f.BcastAckInvalid, 14))
	putWord(h, 6, uint32(f.Orig))
	putWord(h, 7, uint32(f.Dest))
	return b
}

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=ConnType -linecomment

// A ConnType is the type of a message of the connection manager. Kernels have the first three;
// ConnWriteEnd, after which its sender sends no more data, goes among nodes of utipc alone.
// Source: docs/spec/07-sockets.md §4.5; docs/explanation/protocol.md, "Among nodes of utipc".
type ConnType uint8

const (
	ConnProbe      ConnType = iota // probe
	ConnProbeReply                 // probe-reply
	ConnAck                        // ack
	ConnWriteEnd                   // write-end
)

// A Conn is a view of a message of the connection manager: two connected sockets
// supervising each other. Source: docs/spec/01-wire.md §4.5.
type Conn struct{ Message }

// ConnFields is what a message of the connection manager says, for writing.
type ConnFields struct {
	Common
	Type       ConnType
	Error      ErrorCode
	NagleAck   bool
	OrigPort   uint32
	DestPort   uint32
	Orig, Dest NodeAddr
	Acked      uint16 // blocks or messages, of ConnAck; of a ConnProbe between our nodes see engine.Publication
	Window     uint16 // blocks, of ConnAck; of a ConnProbe likewise
}

// ParseConn checks m as a message of the connection manager. Errors: ErrUnknown,
// ErrMalformed.
func ParseConn(m Message) (Conn, error) {
	if m.User() != UserConn || m.RawType() > uint8(ConnWriteEnd) {
		return Conn{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return Conn{}, ErrMalformed
	}
	return Conn{m}, nil
}

// Error says why the message came back, or OK.
func (c Conn) Error() ErrorCode { return ErrorCode(c.bits(1, 25, 4)) }

// Fields returns what the message says.
func (c Conn) Fields() ConnFields {
	return ConnFields{
		Common: c.common(), Type: ConnType(c.RawType()), Error: c.Error(), NagleAck: c.flag(0, 18),
		OrigPort: c.Word(4), DestPort: c.Word(5), Orig: NodeAddr(c.Word(6)), Dest: NodeAddr(c.Word(7)),
		Acked: uint16(c.Word(9) >> 16), Window: uint16(c.Word(9)),
	}
}

// Append adds the message to b.
func (f *ConnFields) Append(b []byte) []byte {
	b, h := grow(b, IntLen)
	f.put(h, UserConn, IntLen, IntLen, bit(f.NagleAck, 18), uint32(f.Type)<<29|uint32(f.Error&0xf)<<25)
	putWord(h, 4, f.OrigPort)
	putWord(h, 5, f.DestPort)
	putWord(h, 6, uint32(f.Orig))
	putWord(h, 7, uint32(f.Dest))
	putWord(h, 9, uint32(f.Acked)<<16|uint32(f.Window))
	return b
}
