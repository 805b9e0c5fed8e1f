// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"iter"
)

// MaxDomain is the number of members a domain may have.
// Source: docs/spec/03-discovery-and-node.md §8.1.
const MaxDomain = 64

const domainHead = 16

// A Domain is a view of a monitor's domain record: the neighbours that the
// sender of a STATE watches for all. It stands behind the record of gap-ack
// blocks.
//
//	|  length, bytes              |  generation                     |
//	|  generation acknowledged    |  members                        |
//	|  up map: bit i says that member i is up, 8 bytes              |
//	|                                                               |
//	|  member                                                       | 4 bytes each
//
// A record without members is a dummy, whose up map is undefined.
// Source: docs/spec/03-discovery-and-node.md §8.2.
type Domain struct{ b []byte }

// ParseDomain checks b, all of it, as a domain record. Errors: ErrTruncated when
// it is shorter than any, ErrMalformed when length and number of members do not
// agree with it; the record is to be ignored, not the message.
// Source: docs/spec/03-discovery-and-node.md §8.3.
func ParseDomain(b []byte) (Domain, error) {
	if len(b) < domainHead {
		return Domain{}, ErrTruncated
	}
	n := int(binary.BigEndian.Uint16(b[6:]))
	if n > MaxDomain || len(b) != domainHead+4*n || int(binary.BigEndian.Uint16(b)) != len(b) {
		return Domain{}, ErrMalformed
	}
	return Domain{b[:len(b):len(b)]}, nil
}

// Domain returns the domain record; ok is false when there is none. record says
// whether a record of gap-ack blocks stands before it, as in GapAcks. Errors:
// those of GapAcks and ParseDomain.
func (s State) Domain(record bool) (d Domain, ok bool, err error) {
	_, rest, err := s.GapAcks(record)
	if err != nil || len(rest) == 0 {
		return Domain{}, false, err
	}
	d, err = ParseDomain(rest)
	return d, err == nil, err
}

// GuessRecord reports whether the data looks as if it began with a record of
// gap-ack blocks. It is for tools that do not know what the two nodes announced;
// a node knows.
func (s State) GuessRecord() bool {
	if _, err := ParseDomain(s.Data()); err != nil {
		return len(s.Data()) > 0
	}
	g, rest, err := ParseGapAcks(s.Data())
	return err == nil && g.Form() == GapBoth && len(rest) == 0
}

// Gen is the sender's current generation of its domain.
func (d Domain) Gen() Seq { return Seq(binary.BigEndian.Uint16(d.b[2:])) }

// AckGen is the last generation the sender has received from the receiver.
func (d Domain) AckGen() Seq { return Seq(binary.BigEndian.Uint16(d.b[4:])) }

// UpMap has bit i set when member i is up; undefined in a dummy.
func (d Domain) UpMap() uint64 { return binary.BigEndian.Uint64(d.b[8:]) }

// Len is the number of members, 0 to MaxDomain.
func (d Domain) Len() int { return (len(d.b) - domainHead) / 4 }

// Member returns member i, counted from 0. It panics when there is none.
func (d Domain) Member(i int) NodeAddr {
	return NodeAddr(binary.BigEndian.Uint32(d.b[domainHead+4*i:]))
}

// Up reports whether the sender takes member i for up.
func (d Domain) Up(i int) bool { return d.UpMap()>>i&1 != 0 }

// Members yields the members in ring order, the sender's successor first.
func (d Domain) Members() iter.Seq2[int, NodeAddr] {
	return func(yield func(int, NodeAddr) bool) {
		for i := range d.Len() {
			if !yield(i, d.Member(i)) {
				return
			}
		}
	}
}

// DomainFields is what a domain record says, for writing.
type DomainFields struct {
	Gen, AckGen Seq
	UpMap       uint64
	Members     []NodeAddr // at most MaxDomain; what is beyond is not written
}

// Fields returns what the record says; the members are appended to buf, which
// may be nil.
func (d Domain) Fields(buf []NodeAddr) DomainFields {
	k := len(buf)
	for _, a := range d.Members() {
		buf = append(buf, a)
	}
	return DomainFields{Gen: d.Gen(), AckGen: d.AckGen(), UpMap: d.UpMap(), Members: buf[k:]}
}

// Append adds the record to b.
func (f *DomainFields) Append(b []byte) []byte {
	m := f.Members[:min(len(f.Members), MaxDomain)]
	b = binary.BigEndian.AppendUint16(b, uint16(domainHead+4*len(m)))
	b = binary.BigEndian.AppendUint16(b, uint16(f.Gen))
	b = binary.BigEndian.AppendUint16(b, uint16(f.AckGen))
	b = binary.BigEndian.AppendUint16(b, uint16(len(m)))
	b = binary.BigEndian.AppendUint64(b, f.UpMap)
	for _, a := range m {
		b = binary.BigEndian.AppendUint32(b, uint32(a))
	}
	return b
}
