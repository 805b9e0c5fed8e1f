// SPDX-License-Identifier: Apache-2.0

package frame

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=TunnelType -linecomment

// A TunnelType is the type of a tunnel message.
type TunnelType uint8

const (
	TunnelSynch    TunnelType = iota // synch
	TunnelFailover                   // failover
)

// A Tunnel is a view of a message that carries another link's packet, or speaks
// of it: when one of two parallel links fails (TunnelFailover), or joins the other
// (TunnelSynch).
//
//	|  piece, from 1              |  pieces                         | word 4
//	|                               |bearer |                       | word 5
//	|  originating node                                             | word 6
//	|  destination node                                             | word 7
//	|  packets tunnelled, or the sync point |                       | word 9
//	|  the packet with its header, a piece of it, or nothing        | data
//
// Word 4 is 0 for whole packets. Source: docs/spec/01-wire.md §4.7,
// docs/spec/02-link.md §10.
type Tunnel struct{ Message }

// TunnelFields is what a tunnel message says of what it carries, for writing.
type TunnelFields struct {
	Common
	Type       TunnelType
	Piece      uint16 // 1 to Pieces, or 0
	Pieces     uint16 // 0 for a whole packet
	Bearer     uint8  // 0 to 7 on the wire, 0 to 2 legal
	Orig, Dest NodeAddr
	Count      uint16 // tunnelled packets; the sync point in a TunnelSynch without data
}

// ParseTunnel checks m as a tunnel message; what is in it is checked by Inner.
// Errors: ErrUnknown; ErrMalformed also for a count of 0, a piece that is not
// among the pieces, and data too short for a packet.
// Source: docs/spec/02-link.md §12.9.
func ParseTunnel(m Message) (Tunnel, error) {
	if m.User() != UserTunnel || m.RawType() > uint8(TunnelFailover) {
		return Tunnel{}, ErrUnknown
	}
	if m.hlen != IntLen || m.NonSeq() {
		return Tunnel{}, ErrMalformed
	}
	t := Tunnel{m}
	no, of, pieces := t.Piece()
	switch {
	case t.IsSynchPoint():
		return t, nil
	case t.Count() == 0,
		pieces && (t.Type() == TunnelSynch || no == 0 || no > of || of > MaxPieces),
		!pieces && (no != 0 || len(t.Data()) < ShortLen),
		pieces && no == 1 && len(t.Data()) < ShortLen: // the first piece has the packet's header
		return Tunnel{}, ErrMalformed
	}
	return t, nil
}

// MaxPieces is into how many pieces the longest message goes over the link of
// the smallest packets.
const MaxPieces = 2 + MaxMessage/(MinMTU-IntLen)

// Type tells the two procedures apart.
func (t Tunnel) Type() TunnelType { return TunnelType(t.RawType()) }

// Bearer is the other link's bearer as the receiver numbers it: 0 to 7, of which
// only 0 to 2 are legal.
func (t Tunnel) Bearer() uint8 { return uint8(t.bits(5, 9, 3)) }

// Count is the number of packets that the procedure tunnels.
func (t Tunnel) Count() int { return int(t.Word(9) >> 16) }

// Piece returns which piece of how many of a packet the data is; ok is false for
// a whole packet.
func (t Tunnel) Piece() (no, of int, ok bool) {
	no, of = int(t.Word(4)>>16), int(t.Word(4)&0xffff)
	return no, of, of != 0
}

// IsSynchPoint reports whether the message is a TunnelSynch of the one-packet
// form, which carries no packet but names the sync point. Which form a peer uses
// follows from CapTunnelEnhanced.
func (t Tunnel) IsSynchPoint() bool { return t.Type() == TunnelSynch && len(t.Data()) == 0 }

// SyncPoint is the last number used on the other link before a TunnelSynch: as
// named, or counted from the first packet tunnelled. Errors: those of Inner.
func (t Tunnel) SyncPoint() (Seq, error) {
	if t.IsSynchPoint() {
		return Seq(t.Word(9) >> 16), nil
	}
	m, err := t.Inner()
	if err != nil {
		return 0, err
	}
	return m.Seq() + Seq(t.Count()-1), nil
}

// Inner returns the packet tunnelled, which keeps the other link's sequence
// number. Errors: those of Parse; ErrMalformed where there is no whole packet or
// one that is never tunnelled.
func (t Tunnel) Inner() (Message, error) {
	if _, _, pieces := t.Piece(); pieces || len(t.Data()) == 0 {
		return Message{}, ErrMalformed
	}
	return ParseTunnelled(t.Data())
}

// ParseTunnelled checks a packet that came through a tunnel. Errors: those of Parse;
// ErrMalformed for one that is never tunnelled.
func ParseTunnelled(b []byte) (Message, error) {
	m, err := Parse(b)
	if err != nil {
		return Message{}, err
	}
	if u := m.User(); u == UserLink || u == UserDiscovery || m.NonSeq() {
		return Message{}, ErrMalformed
	}
	return m, nil
}

// Fields returns what the message says of what it carries.
func (t Tunnel) Fields() TunnelFields {
	return TunnelFields{
		Common: t.common(), Type: t.Type(), Piece: uint16(t.Word(4) >> 16), Pieces: uint16(t.Word(4)),
		Bearer: t.Bearer(), Orig: NodeAddr(t.Word(6)), Dest: NodeAddr(t.Word(7)), Count: uint16(t.Count()),
	}
}

// Put writes the header of a message that carries n bytes into the first IntLen
// bytes of b.
func (f *TunnelFields) Put(b []byte, n int) {
	clear(b[:IntLen])
	f.put(b, UserTunnel, IntLen, IntLen+n, 0, uint32(f.Type)<<29)
	putWord(b, 4, uint32(f.Piece)<<16|uint32(f.Pieces))
	putWord(b, 5, uint32(f.Bearer&7)<<9)
	putWord(b, 6, uint32(f.Orig))
	putWord(b, 7, uint32(f.Dest))
	putWord(b, 9, uint32(f.Count)<<16)
}

// Append adds the message, with what it carries, to b.
func (f *TunnelFields) Append(b, data []byte) []byte {
	b, h := grow(b, IntLen)
	f.Put(h, len(data))
	return append(b, data...)
}
