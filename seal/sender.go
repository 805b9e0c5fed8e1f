// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"encoding/binary"

	"github.com/utipc/utipc/frame"
)

// How many packets one key may seal. A key asks for a successor after soonSpent and
// refuses after spent: 19 hours and 203 days at a million packets a second. With
// packets of 1500 bytes that is 2^51 blocks, for which AES-GCM gives an
// attacker's chance to tell ciphertext from chance of 2^-28.
const (
	soonSpent = 1 << 36
	spent     = 1 << 44
)

// Overhead is the most bytes that sealing adds to a packet but for discovery,
// which has 12 more: header, padding and tag.
const Overhead = frame.SealedLen + 3 + frame.TagLen

// A Header is what a sealed packet says in the clear beyond what follows from the
// packet and the key.
type Header struct {
	TX       uint8          // slot of the key, 0 to 3
	RX       uint8          // slot of the receiver's key that this node uses
	Destined bool           // for the node Dest
	Master   bool           // this node has a master key
	NoKey    bool           // this node has no key of Dest's
	Dest     frame.NodeAddr // in the nonce alone
	Identity frame.Identity // in discovery
}

// A Sender seals packets under one key. Their numbers begin where the owner's random
// number says and never go back, whatever happens to nodes, slots and links, so that no
// nonce comes twice. All keys of a Ring number in one sequence.
type Sender struct {
	*Cipher
	*numbers
}

// numbers are those of the packets under one key, in whatever slots it is.
type numbers struct {
	*sequence
	count uint64 // packets sealed
	limit uint64 // where it ends
}

// A sequence has the number of the next packet, of whatever key.
type sequence struct{ next uint64 }

// NewSender makes a sender of a key. The numbers begin at start without its upper
// two bits, and at 1 instead of 0: a random start keeps a node that restarts with
// the same key away from the numbers it used before. Errors: ErrKey.
func NewSender(k *Key, start uint64) (*Sender, error) {
	c, err := NewCipher(k)
	if err != nil {
		return nil, err
	}
	return &Sender{c, &numbers{sequence: &sequence{max(1, start&(1<<62-1))}, limit: spent}}, nil
}

// Count is the number of packets sealed.
func (s *Sender) Count() uint64 { return s.count }

// SoonSpent reports whether it is time for another key.
func (s *Sender) SoonSpent() bool { return s.count >= min(soonSpent, s.limit/2) }

// HeaderLen is the length of the header that plain, which is a whole packet, gets.
func HeaderLen(plain []byte) int {
	if frame.User(plain[0]>>1&0xf) == frame.UserDiscovery {
		return frame.SealedDiscLen
	}
	return frame.SealedLen
}

// SealedSize is the length of plain once sealed, in bytes.
func SealedSize(plain []byte) int { return HeaderLen(plain) + (len(plain)+3)&^3 + frame.TagLen }

// Seal writes the packet plain to dst, sealed, and returns how many bytes that are:
// SealedSize. dst must not share memory with plain, unless plain lies just where
// it is to lie sealed, which is HeaderLen behind the beginning of dst.
// Errors: ErrMalformed for a packet too short to have a source, ErrNoRoom, ErrSpent.
func (s *Sender) Seal(dst, plain []byte, h *Header) (int, error) {
	bits := uint32(h.TX&3) << 6
	if h.Destined {
		bits |= destined | uint32(h.RX&3)<<4
		if h.NoKey {
			bits |= noKeyBit
		}
	}
	if h.Master {
		bits |= masterBit
	}
	return s.pack(dst, plain, bits, h.Dest, &h.Identity)
}

// Bits of the first two bytes of a sealed header.
const (
	destined  = 1 << 8
	masterBit = 1 << 2
	noKeyBit  = 1 << 1
)

// pack is Seal with the header's first two bytes, but for what comes from the packet.
func (s *Sender) pack(dst, plain []byte, bits uint32, dest frame.NodeAddr, id *frame.Identity) (int, error) {
	if len(plain) < frame.ShortLen {
		return 0, ErrMalformed
	}
	first := binary.BigEndian.Uint64(plain)
	hlen, padded := frame.SealedLen, (len(plain)+3)&^3
	user := frame.User(first >> 57 & 0xf)
	if user == frame.UserDiscovery {
		hlen = frame.SealedDiscLen
	}
	total := hlen + padded + frame.TagLen
	switch {
	case len(dst) < total:
		return 0, ErrNoRoom
	case s.count >= s.limit:
		return 0, ErrSpent
	}
	dst = dst[:total]
	bits |= 7 << 13
	switch {
	case user == frame.UserDiscovery:
		bits |= uint32(user) << 9
		*(*frame.Identity)(dst[12:]) = *id
	case user == frame.UserLink && first>>29&7 == 0:
		bits |= uint32(user)<<9 | uint32(first>>48)&8 // keepalive stands at the same place in both
		fallthrough
	default:
		*(*[4]byte)(dst[12:]) = [4]byte(plain[12:])
	}
	binary.BigEndian.PutUint32(dst, bits<<16)
	binary.BigEndian.PutUint64(dst[4:], s.next)
	s.next++
	s.count++
	if padded != len(plain) { // the cipher takes all in one piece
		if &plain[0] != &dst[hlen] {
			copy(dst[hlen:], plain)
		}
		clear(dst[hlen+len(plain) : hlen+padded])
		plain = dst[hlen : hlen+padded]
	}
	s.setNonce(dst, dest)
	s.aead.Seal(dst[hlen:hlen], s.nonce[:], plain, dst[:hlen])
	return total, nil
}
