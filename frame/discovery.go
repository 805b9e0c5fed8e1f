// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"net/netip"
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=DiscoveryType -linecomment

// A DiscoveryType is the type of a discovery message.
// Source: docs/spec/03-discovery-and-node.md §2.1.
type DiscoveryType uint8

const (
	Request   DiscoveryType = iota // request
	Response                       // response
	Trial                          // trial
	TrialFail                      // trial-fail
)

// A Discovery is a view of a discovery message.
//
//	|  type  |.|  capabilities (27..15)   |  signature (15..0)      | word 1
//	|  destination domain, or the node answered                     | word 2
//	|  the sender's address, on trial or its own                    | word 3
//	|  the network's number                                         | word 4
//	|  media address, 32 bytes                                      | words 5 to 12
//	|  hash of the sender's network namespace                       | word 13
//	|  suggested address                                            | word 14
//	|  identity, 16 bytes                                           | data
//
// Bit 15 belongs to both capabilities and signature: it is capability 0.
// Source: docs/spec/01-wire.md §4.9.
type Discovery struct{ Message }

// DiscoveryFields is what a discovery message says, for writing.
type DiscoveryFields struct {
	Type         DiscoveryType
	Capabilities Capabilities // without CapNodeID128 the identity is not sent
	Signature    uint16       // bit 15 is overwritten by capability 0
	Dest         NodeAddr     // destination domain, or the node answered
	Prev         NodeAddr     // the sender's address, on trial or its own
	NetID        uint32
	MAC          MAC
	UDP          netip.AddrPort // of a UDP bearer, when it is valid; the MAC is not sent then
	NetHash      uint32
	Suggested    NodeAddr // TrialFail only
	Identity     Identity

	// Challenge and Echo are what Proof returns: in a Response to a node that bears a
	// Mark, and in no other message.
	Challenge, Echo uint64
}

// ParseDiscovery checks m as a discovery message of an Ethernet bearer. Errors:
// ErrUnknown for another user, type or medium; ErrMalformed for wrong lengths, a
// group's or no MAC, or no identity.
func ParseDiscovery(m Message) (Discovery, error) {
	return parseDiscovery(m, 1<<MediaEthernet)
}

// ParseMediaDiscovery checks m as a discovery message of a bearer of any medium,
// which Media tells. Errors: as ParseDiscovery, and ErrMalformed for a UDP address
// to which nothing can be sent.
func ParseMediaDiscovery(m Message) (Discovery, error) {
	return parseDiscovery(m, 1<<MediaEthernet|1<<MediaUDP)
}

// parseDiscovery checks m; media has a bit for each medium that is taken.
func parseDiscovery(m Message, media uint) (Discovery, error) {
	if m.User() != UserDiscovery || m.RawType() > uint8(TrialFail) {
		return Discovery{}, ErrUnknown
	}
	if m.hlen != DiscLen || !m.NonSeq() {
		return Discovery{}, ErrMalformed
	}
	d := Discovery{m}
	if media>>d.Word(5)&1 == 0 {
		return Discovery{}, ErrUnknown
	}
	if d.Capabilities().Has(CapNodeID128) && (len(d.Data()) < 16 || d.Identity() == Identity{}) {
		return Discovery{}, ErrMalformed
	}
	if _, err := ParseMediaAddr(d.b[20:DiscLen]); err != nil {
		return Discovery{}, err
	}
	return d, nil
}

// Type is what the message is for.
func (d Discovery) Type() DiscoveryType { return DiscoveryType(d.RawType()) }

// Capabilities are the sender's.
func (d Discovery) Capabilities() Capabilities { return Capabilities(d.Word(1)>>15) & capMask }

// Signature tells one life of the sender from another, as read: 16 bits.
func (d Discovery) Signature() uint16 { return uint16(d.Word(1)) }

// Dest is the destination domain, or the node answered.
func (d Discovery) Dest() NodeAddr { return NodeAddr(d.Word(2)) }

// NetID is the number of the sender's network.
func (d Discovery) NetID() uint32 { return d.Word(4) }

// MAC is the sender's station; zero for a UDP bearer.
func (d Discovery) MAC() MAC { return d.Media().MAC }

// Media is where the sender can be reached.
func (d Discovery) Media() MediaAddr {
	a, _ := ParseMediaAddr(d.b[20:DiscLen]) // checked before
	return a
}

// NetHash identifies the sender's network namespace within its host.
func (d Discovery) NetHash() uint32 { return d.Word(13) }

// Suggested is the address a TrialFail proposes.
func (d Discovery) Suggested() NodeAddr { return NodeAddr(d.Word(14)) }

// Identity is the sender's; for old nodes that send none it is made from the
// address.
func (d Discovery) Identity() Identity {
	if d.Capabilities().Has(CapNodeID128) {
		return Identity(d.Data()[:16])
	}
	return AddrIdentity(d.Prev())
}

// Fields returns what the message says.
func (d Discovery) Fields() DiscoveryFields {
	a := d.Media()
	challenge, echo := d.Proof()
	return DiscoveryFields{
		Challenge: challenge, Echo: echo,
		Type: d.Type(), Capabilities: d.Capabilities(), Signature: d.Signature(),
		Dest: d.Dest(), Prev: d.Prev(), NetID: d.NetID(), MAC: a.MAC, UDP: a.UDP,
		NetHash: d.NetHash(), Suggested: d.Suggested(), Identity: d.Identity(),
	}
}

// Append adds the message to b.
func (f *DiscoveryFields) Append(b []byte) []byte {
	n := DiscLen
	if f.Capabilities.Has(CapNodeID128) {
		n += len(f.Identity)
	}
	proof := n > DiscLen && f.Type == Response && (f.Challenge != 0 || f.Echo != 0)
	if proof {
		n += ProofLen
	}
	b, h := grow(b, n)
	w1 := uint32(f.Type)<<29 | uint32(f.Capabilities&capMask)<<15 | uint32(f.Signature&0x7fff)
	Common{Prev: f.Prev, NonSeq: true}.put(h, UserDiscovery, DiscLen, n, 0, 0)
	putWord(h, 1, w1)
	putWord(h, 2, uint32(f.Dest))
	putWord(h, 4, f.NetID)
	a := MediaAddr{Type: MediaEthernet, MAC: f.MAC}
	if f.UDP.IsValid() {
		a = MediaAddr{Type: MediaUDP, UDP: f.UDP}
	}
	a.Put(h[20:])
	binary.BigEndian.PutUint32(h[52:], f.NetHash)
	binary.BigEndian.PutUint32(h[56:], uint32(f.Suggested))
	copy(h[DiscLen:n], f.Identity[:])
	if proof {
		binary.BigEndian.PutUint64(h[n-ProofLen:], f.Challenge)
		binary.BigEndian.PutUint64(h[n-8:], f.Echo)
	}
	return b
}
