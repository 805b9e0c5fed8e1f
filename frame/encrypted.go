// SPDX-License-Identifier: Apache-2.0

package frame

import "encoding/binary"

// Lengths of what stands around an encrypted message, in bytes.
const (
	SealedLen     = 16 // header
	SealedDiscLen = 28 // header of a discovery message
	TagLen        = 16 // authentication tag
)

// An Encrypted is a view of an encrypted packet: its header, which is readable,
// and what is sealed. The package opens nothing.
//
//	+-----+-------+-+---+---+-+-+-+-+-------------------------------+
//	|  7  | user  |D|TX |RX |K|M|N|.|                               |
//	+-----+-------+-+---+---+-+-+-+-+-------------------------------+
//	|  sequence number, 8 bytes                                     |
//	|                                                               |
//	|  source: address, or 16 bytes of identity when user is 13     |
//
// D: for one known node. TX: slot of the key used. RX: slot of the receiver's key
// that the sender uses. K: keepalive. M: has a master key. N: has no key of the
// receiver. Source: docs/spec/09-security.md §1.
type Encrypted struct {
	b    []byte
	hlen int
}

// ParseEncrypted checks b, which must be cut to what the device received, as an
// encrypted packet: padding would become part of what is sealed. Errors:
// ErrTruncated when nothing is left to open, ErrVersion when it is not encrypted,
// ErrMalformed for a user that has no header.
func ParseEncrypted(b []byte) (Encrypted, error) {
	if len(b) < SealedLen {
		return Encrypted{}, ErrTruncated
	}
	if b[0]>>5 != 7 {
		return Encrypted{}, ErrVersion
	}
	e := Encrypted{b, SealedLen}
	switch e.User() {
	case 0, UserLink:
	case UserDiscovery:
		e.hlen = SealedDiscLen
	default:
		return Encrypted{}, ErrMalformed
	}
	if len(b) <= e.hlen+TagLen {
		return Encrypted{}, ErrTruncated
	}
	return e, nil
}

// Header returns the header, which the tag protects too.
func (e Encrypted) Header() []byte { return e.b[:e.hlen:e.hlen] }

// Sealed returns the message, padded to a multiple of 4 and encrypted, with the
// tag behind it.
func (e Encrypted) Sealed() []byte { return e.b[e.hlen:] }

// User is UserLink for a STATE, UserDiscovery for discovery, else 0.
func (e Encrypted) User() User { return User(e.b[0] >> 1 & 0xf) }

// Seq is the message's number, a part of the nonce.
func (e Encrypted) Seq() uint64 { return binary.BigEndian.Uint64(e.b[4:]) }

// Source is the sender's address; ok is false in discovery, which has the identity.
func (e Encrypted) Source() (a NodeAddr, ok bool) {
	return NodeAddr(binary.BigEndian.Uint32(e.b[12:])), e.hlen == SealedLen
}

// Identity is the sender's, in discovery only.
func (e Encrypted) Identity() (id Identity, ok bool) {
	if e.hlen != SealedDiscLen {
		return Identity{}, false
	}
	return Identity(e.b[12:28]), true
}

// EncryptedFields is what the header of an encrypted packet says, for writing.
type EncryptedFields struct {
	User      User // UserLink, UserDiscovery or 0
	Destined  bool
	TX, RX    uint8 // slots 0 to 3
	Keepalive bool
	Master    bool
	NoKey     bool
	Seq       uint64
	Source    NodeAddr // not in discovery
	Identity  Identity // in discovery only
}

// Fields returns what the header says.
func (e Encrypted) Fields() EncryptedFields {
	x := e.b[1]
	f := EncryptedFields{
		User: e.User(), Destined: e.b[0]&1 != 0, TX: x >> 6, RX: x >> 4 & 3,
		Keepalive: x&8 != 0, Master: x&4 != 0, NoKey: x&2 != 0, Seq: e.Seq(),
	}
	if id, ok := e.Identity(); ok {
		f.Identity = id
	} else {
		f.Source, _ = e.Source()
	}
	return f
}

// Append adds the header, and behind it what is sealed, to b.
func (f *EncryptedFields) Append(b, sealed []byte) []byte {
	b = append(b, 7<<5|byte(f.User&0xf)<<1|byte(bit(f.Destined, 0)),
		f.TX&3<<6|f.RX&3<<4|byte(bit(f.Keepalive, 3)|bit(f.Master, 2)|bit(f.NoKey, 1)), 0, 0)
	b = binary.BigEndian.AppendUint64(b, f.Seq)
	if f.User == UserDiscovery {
		b = append(b, f.Identity[:]...)
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(f.Source))
	}
	return append(b, sealed...)
}
