// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"iter"
)

// MaxGapBlocks is the number of blocks of each kind that a record may have.
// Source: docs/spec/02-link.md §1.3.
const MaxGapBlocks = 64

// receiveWindow is how far behind the next expected packet one may lie.
// Source: docs/spec/02-link.md §1.3.
const receiveWindow = 8191

const gapRecordHead = 4

// A GapBlock says: all up to Ack that no earlier gap names has arrived, and the
// next Gap packets are missing.
type GapBlock struct {
	Ack Seq
	Gap uint16
}

// GapBlocks is a read-only list of blocks in the frame's memory.
type GapBlocks struct{ b []byte }

// Len is the number of blocks.
func (l GapBlocks) Len() int { return len(l.b) / 4 }

// At returns block i, counted from 0. It panics when there is none.
func (l GapBlocks) At(i int) GapBlock {
	b := l.b[4*i : 4*i+4]
	return GapBlock{Seq(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint16(b[2:])}
}

// All yields the blocks in order.
func (l GapBlocks) All() iter.Seq[GapBlock] {
	return func(yield func(GapBlock) bool) {
		for i := range l.Len() {
			if !yield(l.At(i)) {
				return
			}
		}
	}
}

// Monotonic reports whether the list continues the ack and gap of the message's
// header as a receiver may build it: at most MaxGapBlocks blocks, each
// acknowledging something behind the gap before it, only the last without a gap
// of its own, nothing beyond the receive window. A list of which it is not true
// says nothing. Source: docs/spec/02-link.md §5, §12.4.
func (l GapBlocks) Monotonic(ack Seq, gap int) bool {
	n := l.Len()
	if n > MaxGapBlocks {
		return false
	}
	last := gap // distance from ack of the last packet spoken of
	for i := range n {
		x := l.At(i)
		d := ack.Distance(x.Ack)
		if d <= last || d+int(x.Gap) > receiveWindow+1 || x.Gap == 0 && i < n-1 || x.Gap != 0 && i == n-1 && n < MaxGapBlocks {
			return false
		}
		last = d + int(x.Gap)
	}
	return true
}

// A GapForm tells how a record's length and counts agree.
type GapForm uint8

const (
	GapNone GapForm = iota // no record, or one whose counts and length disagree: no blocks
	GapBoth                // unicast and broadcast blocks
	GapOld                 // of 5.2 to 5.7: unicast blocks alone, byte 3 undefined
)

// GapAcks is a view of the record of gap-ack blocks, which opens the data of
// every STATE between two nodes that both announce CapGapAckBlock.
//
//	|  length, bytes              |  unicast blocks | bcast blocks  |
//	|  ack                        |  gap                            | bcast blocks, then unicast
//
// Where the length fits neither form there are no blocks, but the record still
// ends where it says. The zero value is a record that is not there.
// Source: docs/spec/02-link.md §5, docs/spec/04-broadcast.md §4.3.
type GapAcks struct {
	b    []byte // the record
	form GapForm
}

// ParseGapAcks splits the data of a STATE that begins with a record into the
// record and the rest; both share memory with b. Errors: ErrTruncated when b is
// shorter than the record, which makes the whole message void.
func ParseGapAcks(b []byte) (g GapAcks, rest []byte, err error) {
	if len(b) < gapRecordHead {
		return GapAcks{}, nil, ErrTruncated
	}
	n, unicast, bcast := int(binary.BigEndian.Uint16(b)), int(b[2]), int(b[3])
	if n > len(b) {
		return GapAcks{}, nil, ErrTruncated
	}
	g.b = b[:n:n]
	switch n {
	case gapRecordHead + 4*(unicast+bcast):
		g.form = GapBoth
	case gapRecordHead + 4*unicast:
		g.form = GapOld
	}
	return g, b[n:], nil
}

// GapAcks splits the message's data into the record of gap-ack blocks and the
// rest, where the domain record is. record says whether there is one: both ends
// announce CapGapAckBlock. Without it g is the zero value and rest all data.
// Errors: ErrTruncated, and the message is to be dropped.
// Source: docs/spec/02-link.md §4.5.
func (s State) GapAcks(record bool) (g GapAcks, rest []byte, err error) {
	if !record {
		return GapAcks{}, s.Data(), nil
	}
	return ParseGapAcks(s.Data())
}

// Form tells how the record's length and counts agree.
func (g GapAcks) Form() GapForm { return g.form }

// Bytes returns the record as it stands in the message.
func (g GapAcks) Bytes() []byte { return g.b }

// Bcast returns the blocks on the broadcast link.
func (g GapAcks) Bcast() GapBlocks {
	if g.form != GapBoth {
		return GapBlocks{}
	}
	return GapBlocks{g.b[gapRecordHead:][:4*int(g.b[3])]}
}

// Unicast returns the blocks on the link the message came over.
func (g GapAcks) Unicast() GapBlocks {
	if g.form == GapNone {
		return GapBlocks{}
	}
	return GapBlocks{g.b[len(g.b)-4*int(g.b[2]):]}
}

// GapAckFields is what a record says, for writing.
type GapAckFields struct {
	Bcast, Unicast []GapBlock // at most MaxGapBlocks each; what is beyond is not written
}

// Fields returns what the record says; the blocks are appended to buf, which may
// be nil.
func (g GapAcks) Fields(buf []GapBlock) GapAckFields {
	k := len(buf)
	for x := range g.Bcast().All() {
		buf = append(buf, x)
	}
	n := len(buf)
	for x := range g.Unicast().All() {
		buf = append(buf, x)
	}
	return GapAckFields{Bcast: buf[k:n:n], Unicast: buf[n:]}
}

// Append adds the record to b.
func (f *GapAckFields) Append(b []byte) []byte {
	bcast, unicast := f.Bcast[:min(len(f.Bcast), MaxGapBlocks)], f.Unicast[:min(len(f.Unicast), MaxGapBlocks)]
	b = binary.BigEndian.AppendUint16(b, uint16(gapRecordHead+4*(len(bcast)+len(unicast))))
	b = append(b, uint8(len(unicast)), uint8(len(bcast)))
	for _, l := range [...][]GapBlock{bcast, unicast} {
		for _, x := range l {
			b = binary.BigEndian.AppendUint16(b, uint16(x.Ack))
			b = binary.BigEndian.AppendUint16(b, x.Gap)
		}
	}
	return b
}
