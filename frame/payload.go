// SPDX-License-Identifier: Apache-2.0

package frame

// A Payload is a view of a message that carries a program's data.
//
//	| ver | imp   | hsize |N|D|S|Y|  message size                   | word 0
//	| typ | error |reroute|sc |kd | |  broadcast acknowledge        | word 1
//	|  link acknowledge           |  link sequence                  | word 2
//	|  previous node                                                | word 3
//	|  originating port                                             | word 4
//	|  destination port; the network's number on the broadcast link | word 5
//	+- 24 bytes: connection data -----------------------------------+
//	|  originating node                                             | word 6
//	|  destination node                                             | word 7
//	+- 32 bytes: to a socket ---------------------------------------+
//	|  service type                                                 | word 8
//	|  instance, or lower bound                                     | word 9
//	+- 40 bytes: to a service --------------------------------------+
//	|  upper bound                                                  | word 10
//	+- 44 bytes: to a range, or in a group -------------------------+
//
// D: may be dropped by the receiver. S: may be dropped by the sender, or another
// meaning by type. Y: SYN. sc: lookup scope. kd: of a connection request, among nodes of
// utipc, see ConnKind; else reserved. Source: docs/spec/01-wire.md §2, §4.1.
type Payload struct{ Message }

// PayloadFields is what a payload message says, for writing.
type PayloadFields struct {
	Common
	Importance    Importance // Low to Critical
	Type          PayloadType
	Long          bool // connection data with the 32-byte header of a returned message
	DestDroppable bool
	SrcDroppable  bool // bit 18; other meanings by type
	Syn           bool
	Error         ErrorCode
	Reroute       uint8 // 0 to 15
	Scope         Scope
	Kind          ConnKind // of a connection request
	OrigPort      uint32
	DestPort      uint32
	OrigNode      NodeAddr // not in a 24-byte header
	DestNode      NodeAddr // not in a 24-byte header
	NameType      uint32
	Lower         uint32 // instance, or lower bound
	Upper         uint32
}

// ParsePayload checks m as payload. Errors: ErrUnknown for another user or the
// type that never leaves a node, ErrMalformed for a header that is not of the
// type's length.
func ParsePayload(m Message) (Payload, error) {
	if !m.User().IsPayload() {
		return Payload{}, ErrUnknown
	}
	t := PayloadType(m.RawType())
	if t == groupEvent {
		return Payload{}, ErrUnknown
	}
	if m.hlen != payloadLen(t, false) && !(t == ConnMsg && m.hlen == BasicLen) {
		return Payload{}, ErrMalformed
	}
	return Payload{m}, nil
}

func payloadLen(t PayloadType, long bool) int {
	switch {
	case t == ConnMsg && !long:
		return ShortLen
	case t == ConnMsg || t == DirectMsg:
		return BasicLen
	case t == NamedMsg:
		return NamedLen
	}
	return McastLen
}

// Type says how the message is addressed.
func (p Payload) Type() PayloadType { return PayloadType(p.RawType()) }

// DestDroppable reports whether the receiver may drop the message instead of
// returning it.
func (p Payload) DestDroppable() bool { return p.flag(0, 19) }

// SrcDroppable is bit 18, whose meaning depends on the type.
func (p Payload) SrcDroppable() bool { return p.flag(0, 18) }

// Syn marks a connection request.
func (p Payload) Syn() bool { return p.flag(0, 17) }

// Error says why the message came back, or OK.
func (p Payload) Error() ErrorCode { return ErrorCode(p.bits(1, 25, 4)) }

// Reroute counts the lookups on the way.
func (p Payload) Reroute() uint8 { return uint8(p.bits(1, 21, 4)) }

// Scope says how far a lookup on the way may reach.
func (p Payload) Scope() Scope { return Scope(p.bits(1, 19, 2)) }

// Kind is what connection a request asks for; AnyKind of other messages.
func (p Payload) Kind() ConnKind {
	if t := p.Type(); !p.Syn() || t != NamedMsg && t != DirectMsg {
		return AnyKind
	}
	return ConnKind(p.bits(1, 17, 2))
}

// OrigPort is the sender's port.
func (p Payload) OrigPort() uint32 { return p.Word(4) }

// DestPort is the receiver's port, or 0 when the sender did not know it.
func (p Payload) DestPort() uint32 { return p.Word(5) }

// Orig is the sender's node.
func (p Payload) Orig() NodeAddr {
	if p.hlen < BasicLen {
		return p.Prev()
	}
	return NodeAddr(p.Word(6))
}

// From is the sender's socket.
func (p Payload) From() SocketAddr { return SocketAddr{Port: p.OrigPort(), Node: p.Orig()} }

// Range is what a multicast message is for, or the one instance of a named
// one; ok is false for the other types.
func (p Payload) Range() (r Range, ok bool) {
	switch {
	case p.hlen >= McastLen:
		return Range{p.Word(8), p.Word(9), p.Word(10)}, p.Type() == McastMsg
	case p.hlen == NamedLen:
		return Range{p.Word(8), p.Word(9), p.Word(9)}, true
	}
	return Range{}, false
}

// Fields returns what the message says.
func (p Payload) Fields() PayloadFields {
	f := PayloadFields{
		Common:     p.common(),
		Importance: Importance(p.User()), Type: p.Type(),
		Long:          p.Type() == ConnMsg && p.hlen == BasicLen,
		DestDroppable: p.DestDroppable(), SrcDroppable: p.SrcDroppable(), Syn: p.Syn(),
		Error: p.Error(), Reroute: p.Reroute(), Scope: p.Scope(), Kind: p.Kind(),
		OrigPort: p.OrigPort(), DestPort: p.DestPort(), OrigNode: p.Orig(),
	}
	f.DestNode, _ = p.DestNode()
	if p.hlen >= NamedLen {
		f.NameType, f.Lower = p.Word(8), p.Word(9)
	}
	if p.hlen >= McastLen {
		f.Upper = p.Word(10)
	}
	return f
}

// Len returns the length of the header, in bytes.
func (f *PayloadFields) Len() int { return payloadLen(f.Type, f.Long) }

// Put writes the header of a message with n bytes of data into the first Len
// bytes of b.
func (f *PayloadFields) Put(b []byte, n int) {
	hlen := f.Len()
	w0 := bit(f.DestDroppable, 19) | bit(f.SrcDroppable, 18) | bit(f.Syn, 17)
	w1 := uint32(f.Type)<<29 | uint32(f.Error&0xf)<<25 | uint32(f.Reroute&0xf)<<21 | uint32(f.Scope&3)<<19 | uint32(f.Kind&3)<<17
	f.put(b, User(f.Importance&3), hlen, hlen+n, w0, w1)
	putWord(b, 4, f.OrigPort)
	putWord(b, 5, f.DestPort)
	if hlen >= BasicLen {
		putWord(b, 6, uint32(f.OrigNode))
		putWord(b, 7, uint32(f.DestNode))
	}
	if hlen >= NamedLen {
		putWord(b, 8, f.NameType)
		putWord(b, 9, f.Lower)
	}
	if hlen >= McastLen {
		putWord(b, 10, f.Upper)
	}
}

// Append adds the message to b.
func (f *PayloadFields) Append(b, data []byte) []byte {
	b, h := grow(b, f.Len())
	f.Put(h, len(data))
	return append(b, data...)
}
