// SPDX-License-Identifier: Apache-2.0

package frame

// A BcastNack is a view of the old report of broadcast packets missed, which goes
// over the broadcast link itself to peers without CapBcastStateNack. All hear it:
// Dest is the node whose packets are missing.
//
//	| 0   |                       |  broadcast acknowledge          | word 1
//	|  gap after                  |  gap to                         | word 2
//	|  last broadcast sent        |                                 | word 4
//	|  the network's number                                         | word 5
//
// Source: docs/spec/04-broadcast.md §7.
type BcastNack struct{ Message }

// BcastNackFields is what a BcastNack says, for writing.
type BcastNackFields struct {
	Ack        Seq      // last packet received in order
	After, To  Seq      // all behind After up to To are missing
	Prev       NodeAddr // who misses them
	LastBcast  Seq      // last broadcast packet of Prev
	NetID      uint32
	Orig, Dest NodeAddr
}

// ParseBcastNack checks m as a report of broadcast packets missed. Errors:
// ErrUnknown, ErrMalformed.
func ParseBcastNack(m Message) (BcastNack, error) {
	if m.User() != UserBroadcast || m.RawType() != 0 || !m.NonSeq() {
		return BcastNack{}, ErrUnknown
	}
	if m.hlen != IntLen {
		return BcastNack{}, ErrMalformed
	}
	return BcastNack{m}, nil
}

// Fields returns what the message says.
func (n BcastNack) Fields() BcastNackFields {
	return BcastNackFields{
		Ack: n.BcastAck(), After: Seq(n.Word(2) >> 16), To: Seq(n.Word(2)), Prev: n.Prev(),
		LastBcast: Seq(n.Word(4) >> 16), NetID: n.NetID(), Orig: NodeAddr(n.Word(6)), Dest: NodeAddr(n.Word(7)),
	}
}

// Append adds the message to b.
func (f *BcastNackFields) Append(b []byte) []byte {
	b, h := grow(b, IntLen)
	Common{Seq: f.To, Ack: f.After, BcastAck: f.Ack, Prev: f.Prev, NonSeq: true}.put(h, UserBroadcast, IntLen, IntLen, 0, 0)
	putWord(h, 4, uint32(f.LastBcast)<<16)
	putWord(h, 5, f.NetID)
	putWord(h, 6, uint32(f.Orig))
	putWord(h, 7, uint32(f.Dest))
	return b
}
