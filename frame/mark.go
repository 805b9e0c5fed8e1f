// SPDX-License-Identifier: Apache-2.0

package frame

import "encoding/binary"

// Mark is the network hash (word 13 of discovery) of a node of this implementation: a
// hash of its identity and signature, xored with the version of what it does among its
// own kind, 1 to 255. To any other node it is what it is meant to be there, a number
// that stays the same for the life of the node. A random hash is taken for a mark in
// 255 of 2^32 cases, and anybody can make one: what is done among nodes that bear a
// mark must do no harm where it is wrong.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".
func Mark(id Identity, signature uint16, version uint8) uint32 {
	h := uint64(signature&0x7fff) + 0x9e3779b97f4a7c15
	for i := 0; i < len(id); i += 8 {
		h ^= binary.BigEndian.Uint64(id[i:])
		h ^= h >> 32
		h *= 0xd6e8feb86659fd93
		h ^= h >> 32
		h *= 0xd6e8feb86659fd93
	}
	m := uint32(h>>32) ^ uint32(version)
	if m == 0 {
		m = 1 << 31 // no hash is 0; the node is taken for a kernel
	}
	return m
}

// Version is the version that the sender's Mark names; 0: it bears none.
func (d Discovery) Version() uint8 {
	v := d.NetHash() ^ Mark(d.Identity(), d.Signature(), 0)
	if v > 255 {
		return 0
	}
	return uint8(v)
}

// ProofLen is how much longer than others a Response with a challenge or an echo is, in bytes.
const ProofLen = 16

// Proof is what a Response between two nodes of this implementation says behind the
// identity: a number that the receiver is to send back, and the one that the sender was
// asked to. 0 stands for none.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".
func (d Discovery) Proof() (challenge, echo uint64) {
	b := d.Data()
	if d.Type() != Response || !d.Capabilities().Has(CapNodeID128) || len(b) != len(Identity{})+ProofLen {
		return 0, 0
	}
	b = b[len(Identity{}):]
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
}
