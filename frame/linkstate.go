// SPDX-License-Identifier: Apache-2.0

package frame

import "bytes"

// Types of the link protocol.
const (
	linkState    = 0
	linkReset    = 1
	linkActivate = 2
)

// IfNameLen is the room for an interface's name in a RESET or ACTIVATE message,
// in bytes, its closing NUL included.
const IfNameLen = 16

// A LinkInfo is what every message of the link protocol says of its sender.
//
//	|  last broadcast sent        |  next packet to send            | word 4
//	|  session                    |.|I|P|R|bea| prio    |pln  |Q    | word 5
//	|  originating node                                             | word 6
//	|  destination node                                             | word 7
//	|                             |       | broadcast gap           | word 8
//	|  largest packet / 4         |  tolerance, milliseconds        | word 9
//
// I: broadcast acknowledge invalid. P: peer stopping. R: redundant link. Q: probe.
// Source: docs/spec/01-wire.md §4.4.
type LinkInfo struct {
	LastBcast       Seq    // last broadcast packet sent
	NextSent        Seq    // the sequence number the next packet will have
	Session         Seq    // of the sender's endpoint
	BcastAckInvalid bool   // ignore everything about broadcast
	PeerStopping    bool   // the endpoint went down: start over
	RedundantLink   bool   // the sender takes this node for up
	Bearer          uint8  // 0 to 7 on the wire, 0 to 2 legal
	Priority        uint8  // 0 to 31; 0 is no change
	Plane           uint8  // 0 to 7
	Tolerance       uint16 // milliseconds; 0 is no change
	Orig, Dest      NodeAddr
}

func (m Message) linkInfo() LinkInfo {
	return LinkInfo{
		LastBcast: Seq(m.Word(4) >> 16), NextSent: Seq(m.Word(4)),
		Session:         Seq(m.Word(5) >> 16),
		BcastAckInvalid: m.flag(5, 14), PeerStopping: m.flag(5, 13), RedundantLink: m.flag(5, 12),
		Bearer: uint8(m.bits(5, 9, 3)), Priority: uint8(m.bits(5, 4, 5)), Plane: uint8(m.bits(5, 1, 3)),
		Tolerance: uint16(m.Word(9)),
		Orig:      NodeAddr(m.Word(6)), Dest: NodeAddr(m.Word(7)),
	}
}

func (l *LinkInfo) put(b []byte, probe bool, maxPacket int) {
	putWord(b, 4, uint32(l.LastBcast)<<16|uint32(l.NextSent))
	putWord(b, 5, uint32(l.Session)<<16|bit(l.BcastAckInvalid, 14)|bit(l.PeerStopping, 13)|
		bit(l.RedundantLink, 12)|uint32(l.Bearer&7)<<9|uint32(l.Priority&31)<<4|uint32(l.Plane&7)<<1|bit(probe, 0))
	putWord(b, 6, uint32(l.Orig))
	putWord(b, 7, uint32(l.Dest))
	putWord(b, 8, 0)
	putWord(b, 9, uint32(maxPacket/4)<<16|uint32(l.Tolerance))
}

// A LinkMessage is a view of a message of the link protocol of either kind:
// what the two have in common.
type LinkMessage struct{ Message }

// ParseLink checks m as a message of the link protocol. Errors: ErrUnknown,
// ErrMalformed.
func ParseLink(m Message) (LinkMessage, error) {
	switch {
	case m.User() != UserLink || m.RawType() > linkActivate:
		return LinkMessage{}, ErrUnknown
	case m.hlen != IntLen || m.NonSeq():
		return LinkMessage{}, ErrMalformed
	case m.RawType() != linkState && len(m.Data()) < IfNameLen:
		return LinkMessage{}, ErrMalformed
	}
	return LinkMessage{m}, nil
}

// IsState reports whether the message is a STATE.
func (l LinkMessage) IsState() bool { return l.RawType() == linkState }

// IsReset reports whether the message is a RESET.
func (l LinkMessage) IsReset() bool { return l.RawType() == linkReset }

// IsActivate reports whether the message is an ACTIVATE.
func (l LinkMessage) IsActivate() bool { return l.RawType() == linkActivate }

// Info returns what the sender says of itself.
func (l LinkMessage) Info() LinkInfo { return l.linkInfo() }

// Session is the sender's session.
func (l LinkMessage) Session() Seq { return Seq(l.Word(5) >> 16) }

// RedundantLink reports whether the sender takes this node for up.
func (l LinkMessage) RedundantLink() bool { return l.flag(5, 12) }

// LastBcast is the last broadcast packet the sender has sent.
func (l LinkMessage) LastBcast() Seq { return Seq(l.Word(4) >> 16) }

// A State is a view of a STATE message: a link that is up, reporting.
type State struct{ LinkMessage }

// State returns the view of a STATE; ok is false when it is none.
func (l LinkMessage) State() (s State, ok bool) { return State{l}, l.IsState() }

// Probe asks for an answer.
func (s State) Probe() bool { return s.flag(5, 0) }

// Keepalive marks probes and their answers.
func (s State) Keepalive() bool { return s.flag(0, 19) }

// Gap is the number of packets missing behind Ack, at most 8191.
func (s State) Gap() int { return int(s.bits(1, 16, 13)) }

// BcastGap is the number of broadcast packets missing behind BcastAck.
func (s State) BcastGap() int { return int(s.bits(8, 0, 10)) }

// NextSent is the sequence number the sender's next packet will have.
func (s State) NextSent() Seq { return Seq(s.Word(4)) }

// StateFields is what a STATE message says, for writing. Common.Seq is the
// number among STATE messages.
type StateFields struct {
	Common
	LinkInfo
	Probe     bool
	Keepalive bool
	Gap       int // 0 to 8191
	BcastGap  int // 0 to 1023
}

// Fields returns what the message says; its record is Data.
func (s State) Fields() StateFields {
	return StateFields{
		Common: s.common(), LinkInfo: s.linkInfo(),
		Probe: s.Probe(), Keepalive: s.Keepalive(), Gap: s.Gap(), BcastGap: s.BcastGap(),
	}
}

// Append adds the message, with the record it carries, to b.
func (f *StateFields) Append(b, record []byte) []byte {
	b, h := grow(b, IntLen)
	f.Common.put(h, UserLink, IntLen, IntLen+len(record),
		bit(f.Keepalive, 19), linkState<<29|uint32(f.Gap&0x1fff)<<16)
	f.LinkInfo.put(h, f.Probe, 0)
	putWord(h, 8, uint32(f.BcastGap&0x3ff))
	return append(b, record...)
}

// A Reset is a view of a RESET or ACTIVATE message: a link that is coming up.
type Reset struct{ LinkMessage }

// Reset returns the view of a RESET or ACTIVATE; ok is false when it is neither.
func (l LinkMessage) Reset() (r Reset, ok bool) { return Reset{l}, !l.IsState() }

// DestSession is the session an ACTIVATE answers; ok is false when it names none.
func (r Reset) DestSession() (s Seq, ok bool) {
	return Seq(r.Word(1)), r.IsActivate() && r.flag(1, 16)
}

// MaxPacket is the largest packet the sender can take, in bytes.
func (r Reset) MaxPacket() int { return int(r.Word(9)>>16) * 4 }

// PeerStopping asks for a full new start.
func (r Reset) PeerStopping() bool { return r.flag(5, 13) }

// IfName is the sender's interface, at most 15 characters; bytes that do not
// print are shown as '.'.
func (r Reset) IfName() string {
	n := r.Data()[:IfNameLen-1]
	if i := bytes.IndexByte(n, 0); i >= 0 {
		n = n[:i]
	}
	return string(bytes.Map(func(c rune) rune {
		if c <= ' ' || c > '~' {
			return '.'
		}
		return c
	}, n))
}

// ResetFields is what a RESET or ACTIVATE message says, for writing.
type ResetFields struct {
	Common
	LinkInfo
	Activate         bool
	DestSession      Seq // in an ACTIVATE; takes the place of BcastAck
	DestSessionValid bool
	MaxPacket        int // bytes, a multiple of 4
	IfName           [IfNameLen]byte
}

// Fields returns what the message says.
func (r Reset) Fields() ResetFields {
	f := ResetFields{
		Common: r.common(), LinkInfo: r.linkInfo(),
		Activate: r.IsActivate(), MaxPacket: r.MaxPacket(), IfName: [IfNameLen]byte(r.Data()),
	}
	if f.Activate {
		f.DestSession, f.DestSessionValid = r.DestSession()
		f.BcastAck = 0
	}
	return f
}

// Append adds the message to b.
func (f *ResetFields) Append(b []byte) []byte {
	b, h := grow(b, IntLen+IfNameLen)
	c, w1 := f.Common, uint32(linkReset)<<29
	if f.Activate {
		c.BcastAck, w1 = f.DestSession, linkActivate<<29|bit(f.DestSessionValid, 16)
	}
	c.put(h, UserLink, IntLen, len(h), 0, w1)
	f.LinkInfo.put(h, false, f.MaxPacket)
	copy(h[IntLen:], f.IfName[:])
	return b
}
