// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// Families of addresses, and lengths of their structs in bytes, as Linux has them.
const (
	family4, sockaddr4 = 2, 16
	family6, sockaddr6 = 10, 28
)

// sockaddr is an address as Linux has it: struct sockaddr_in, or sockaddr_in6.
func sockaddr(a netip.AddrPort) []byte {
	b := make([]byte, sockaddr6)
	ip := a.Addr().Unmap()
	binary.BigEndian.PutUint16(b[2:], a.Port())
	if ip.Is6() {
		binary.NativeEndian.PutUint16(b, family6)
		raw := ip.As16()
		copy(b[8:], raw[:])
		scope, _ := strconv.ParseUint(ip.Zone(), 10, 32) // by number; of a name it is 0
		binary.NativeEndian.PutUint32(b[24:], uint32(scope))
		return b
	}
	binary.NativeEndian.PutUint16(b, family4)
	if ip.Is4() {
		raw := ip.As4()
		copy(b[4:], raw[:])
	}
	return b[:sockaddr4]
}

// parseSockaddr reads one.
func parseSockaddr(b []byte) (a netip.AddrPort, ok bool) {
	if len(b) < sockaddr4 {
		return a, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == family4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port), true
	case family == family6 && len(b) >= sockaddr6:
		ip := netip.AddrFrom16([16]byte(b[8:]))
		if scope := binary.NativeEndian.Uint32(b[24:]); scope != 0 {
			ip = ip.WithZone(strconv.FormatUint(uint64(scope), 10))
		}
		return netip.AddrPortFrom(ip, port), true
	}
	return a, false
}
