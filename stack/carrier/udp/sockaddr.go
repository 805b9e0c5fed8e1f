// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"encoding/binary"
	"net/netip"
)

// A sockaddr is an address as the kernel takes it and gives it.
//
//	IPv4: | family, 2 | port, 2 | address, 4 | 0, 8 |
//	IPv6: | family, 2 | port, 2 | flow, 4 | address, 16 | scope, 4 |
//
// Family and scope are in the machine's byte order, the rest in the network's.
type sockaddr [28]byte

// The families, as Linux numbers them.
const (
	inet4 = 2
	inet6 = 10
)

// makeSockaddr writes an address; scope is the number of the interface that
// link-local addresses are of.
func makeSockaddr(a netip.AddrPort, scope int) (s sockaddr) {
	binary.BigEndian.PutUint16(s[2:], a.Port())
	ip := a.Addr()
	if ip.Is4() {
		binary.NativeEndian.PutUint16(s[:], inet4)
		b := ip.As4()
		copy(s[4:], b[:])
		return s
	}
	binary.NativeEndian.PutUint16(s[:], inet6)
	b := ip.As16()
	copy(s[8:], b[:])
	if ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() {
		binary.NativeEndian.PutUint32(s[24:], uint32(scope))
	}
	return s
}

// size is the length the kernel wants to be told.
func (s *sockaddr) size() uint32 {
	if binary.NativeEndian.Uint16(s[:]) == inet4 {
		return 16
	}
	return uint32(len(s))
}

// addrPort reads the address, without its scope; invalid when it is none.
func (s *sockaddr) addrPort() netip.AddrPort {
	port := binary.BigEndian.Uint16(s[2:])
	switch binary.NativeEndian.Uint16(s[:]) {
	case inet4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(s[4:])), port)
	case inet6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(s[8:])), port)
	}
	return netip.AddrPort{}
}
