// SPDX-License-Identifier: Apache-2.0

package frame

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=GroupType -linecomment

// A GroupType is the type of a message of the group protocol.
// Source: docs/spec/08-groups.md §2.1.
type GroupType uint8

const (
	GroupJoin    GroupType = iota // join
	GroupLeave                    // leave
	GroupAdv                      // adv
	GroupAck                      // ack
	GroupReclaim                  // reclaim
	GroupRemit                    // remit
)

// A Group is a view of a message of the group protocol: two members of a
// communication group supervising each other.
//
//	|  originating port                                             | word 4
//	|  destination port                                             | word 5
//	|  originating node                                             | word 6
//	|  destination node                                             | word 7
//	|  number                     |  window                         | word 9
//
// D of word 0 is set. Source: docs/spec/08-groups.md §2.1.
type Group struct{ Message }

// GroupFields is what a message of the group protocol says, for writing.
type GroupFields struct {
	Common
	Type          GroupType
	DestDroppable bool // true in all that kernels send
	OrigPort      uint32
	DestPort      uint32
	Orig, Dest    NodeAddr
	Number        uint16 // sync point of GroupJoin and GroupLeave, next expected of GroupAck, window returned of GroupRemit
	Window        uint16 // blocks granted, of GroupJoin and GroupAdv
}

// ParseGroup checks m as a message of the group protocol. Errors: ErrUnknown,
// ErrMalformed.
func ParseGroup(m Message) (Group, error) {
	if m.User() != UserGroup || m.RawType() > uint8(GroupRemit) {
		return Group{}, ErrUnknown
	}
	if m.hlen != IntLen || m.NonSeq() {
		return Group{}, ErrMalformed
	}
	return Group{m}, nil
}

// Type is what the message is for.
func (g Group) Type() GroupType { return GroupType(g.RawType()) }

// From is the member that sends.
func (g Group) From() SocketAddr {
	return SocketAddr{Port: g.Word(4), Node: NodeAddr(g.Word(6))}
}

// DestPort is the port of the member it is for.
func (g Group) DestPort() uint32 { return g.Word(5) }

// Number is the number of the next group broadcast: the sender's own in GroupJoin
// and GroupLeave, the one it expects in GroupAck. In GroupRemit it is the window,
// in blocks of 1 KiB, that the sender gives back.
func (g Group) Number() uint16 { return uint16(g.Word(9) >> 16) }

// Window is the number of blocks of 1 KiB granted by GroupJoin and GroupAdv.
func (g Group) Window() uint16 { return uint16(g.Word(9)) }

// Fields returns what the message says.
func (g Group) Fields() GroupFields {
	return GroupFields{
		Common: g.common(), Type: g.Type(), DestDroppable: g.flag(0, 19),
		OrigPort: g.Word(4), DestPort: g.Word(5), Orig: NodeAddr(g.Word(6)), Dest: NodeAddr(g.Word(7)),
		Number: g.Number(), Window: g.Window(),
	}
}

// Append adds the message to b.
func (f *GroupFields) Append(b []byte) []byte {
	b, h := grow(b, IntLen)
	f.put(h, UserGroup, IntLen, IntLen, bit(f.DestDroppable, 19), uint32(f.Type)<<29)
	putWord(h, 4, f.OrigPort)
	putWord(h, 5, f.DestPort)
	putWord(h, 6, uint32(f.Orig))
	putWord(h, 7, uint32(f.Dest))
	putWord(h, 9, uint32(f.Number)<<16|uint32(f.Window))
	return b
}

// IsGroup reports whether the message goes to members of a group.
func (p Payload) IsGroup() bool { return p.Type() >= GroupBcastMsg }

// Group returns the group's id and, for GroupMcastMsg, the instance addressed; ok
// is false outside of groups. Source: docs/spec/08-groups.md §2.2.
func (p Payload) Group() (group, instance uint32, ok bool) {
	if !p.IsGroup() {
		return 0, 0, false
	}
	return p.Word(8), p.Word(9), true
}

// GroupSeq is the message's place among the sender's group broadcasts; in a
// GroupUcastMsg the number the next one will have. ackRequest asks every member
// for a GroupAck. ok is false outside of groups. In the fields both are in Upper,
// made by GroupWord. Source: docs/spec/01-wire.md §2.5.
func (p Payload) GroupSeq() (seq Seq, ackRequest, ok bool) {
	if !p.IsGroup() {
		return 0, false, false
	}
	return Seq(p.Word(10) >> 16), p.flag(10, 0), true
}

// GroupWord is PayloadFields.Upper of a message in a group.
func GroupWord(seq Seq, ackRequest bool) uint32 { return uint32(seq)<<16 | bit(ackRequest, 0) }
