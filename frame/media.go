// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"net/netip"
)

// A MediaType says of which medium an address in discovery is.
type MediaType uint32

const (
	MediaEthernet MediaType = 1
	MediaUDP      MediaType = 3
)

// mediaLen is the room for a media address in discovery, in bytes.
const mediaLen = 32

// A MediaAddr is where a bearer can be reached: a station of an Ethernet, or a
// UDP port. Its zero value is no address. It is comparable.
//
//	|  type, 1 or 3                                                 |
//	|  MAC, 6 bytes                                                 | 1
//	|  0x0800 or 0x86dd           |  port                           | 3
//	|  IP address, 4 or 16 bytes                                    |
//
// The rest of the 32 bytes is 0. Source: docs/spec/01-wire.md §4.9.
type MediaAddr struct {
	Type MediaType
	MAC  MAC            // of MediaEthernet
	UDP  netip.AddrPort // of MediaUDP; never of a zone
}

// ParseMediaAddr reads the media address in the first 32 bytes of b. Errors:
// ErrTruncated when there are less; ErrUnknown for another medium; ErrMalformed
// for a group of stations, none, an address to which nothing can be sent alone,
// or port 0. Source: docs/spec/01-wire.md §8.3.
func ParseMediaAddr(b []byte) (a MediaAddr, err error) {
	if len(b) < mediaLen {
		return MediaAddr{}, ErrTruncated
	}
	switch a.Type = MediaType(binary.BigEndian.Uint32(b)); a.Type {
	case MediaEthernet:
		a.MAC = MAC(b[4:10])
	case MediaUDP:
		var ip netip.Addr
		switch binary.BigEndian.Uint16(b[4:]) {
		case 0x0800:
			ip = netip.AddrFrom4([4]byte(b[8:12]))
		case 0x86dd:
			ip = netip.AddrFrom16([16]byte(b[8:24]))
		default:
			return MediaAddr{}, ErrMalformed
		}
		a.UDP = netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[6:]))
	default:
		return MediaAddr{}, ErrUnknown
	}
	if !a.Valid() {
		return MediaAddr{}, ErrMalformed
	}
	return a, nil
}

// Valid reports whether a message can be sent to the address and to it alone.
func (a MediaAddr) Valid() bool {
	switch a.Type {
	case MediaEthernet:
		return !a.MAC.IsGroup() && a.MAC != MAC{}
	case MediaUDP:
		ip := a.UDP.Addr()
		return ip.IsValid() && !ip.IsMulticast() && !ip.IsUnspecified() && ip != netip.AddrFrom4([4]byte{255, 255, 255, 255}) &&
			a.UDP.Port() != 0
	}
	return false
}

// Put writes the address into the first 32 bytes of b.
func (a MediaAddr) Put(b []byte) {
	clear(b[:mediaLen])
	binary.BigEndian.PutUint32(b, uint32(a.Type))
	switch a.Type {
	case MediaEthernet:
		copy(b[4:], a.MAC[:])
	case MediaUDP:
		binary.BigEndian.PutUint16(b[6:], a.UDP.Port())
		if ip := a.UDP.Addr(); ip.Is4() {
			binary.BigEndian.PutUint16(b[4:], 0x0800)
			x := ip.As4()
			copy(b[8:], x[:])
		} else if ip.IsValid() {
			binary.BigEndian.PutUint16(b[4:], 0x86dd)
			x := ip.As16()
			copy(b[8:], x[:])
		}
	}
}

// String returns the MAC, or "ADDRESS:PORT".
func (a MediaAddr) String() string {
	switch a.Type {
	case MediaEthernet:
		return a.MAC.String()
	case MediaUDP:
		return a.UDP.String()
	}
	return "none"
}
