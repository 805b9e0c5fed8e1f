// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"fmt"
)

// EtherType is TIPC's Ethernet protocol number.
const EtherType = 0x88ca

// EthernetLen is the length of an Ethernet header, in bytes.
const EthernetLen = 14

// A MAC is a 48-bit Ethernet address.
type MAC [6]byte

// BroadcastMAC addresses every station.
var BroadcastMAC = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// IsGroup reports whether m names a group of stations, all of them included.
func (m MAC) IsGroup() bool { return m[0]&1 != 0 }

// String returns the usual form, "52:54:00:aa:00:01".
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// An Ethernet is a read-only view of an Ethernet II header.
//
//	+-------------------+-------------------+-----------+
//	| destination (6)   | source (6)        | type (2)  |
//	+-------------------+-------------------+-----------+
//
// Source: docs/spec/01-wire.md §1.1.
type Ethernet struct{ b []byte }

// ParseEthernet splits b into the header and what it carries, sharing memory
// with b. Errors: ErrTruncated, ErrNotTIPC for any EtherType but 0x88CA, tagged
// frames included.
func ParseEthernet(b []byte) (h Ethernet, payload []byte, err error) {
	if len(b) < EthernetLen {
		return Ethernet{}, nil, ErrTruncated
	}
	if binary.BigEndian.Uint16(b[12:]) != EtherType {
		return Ethernet{}, nil, ErrNotTIPC
	}
	return Ethernet{b[:EthernetLen:EthernetLen]}, b[EthernetLen:], nil
}

// Dst is the station the frame is for.
func (h Ethernet) Dst() MAC { return MAC(h.b[0:6]) }

// Src is the station the frame comes from.
func (h Ethernet) Src() MAC { return MAC(h.b[6:12]) }

// PutEthernet writes an Ethernet header with TIPC's type into the first
// EthernetLen bytes of b.
func PutEthernet(b []byte, dst, src MAC) {
	copy(b[0:6], dst[:])
	copy(b[6:12], src[:])
	binary.BigEndian.PutUint16(b[12:14], EtherType)
}
