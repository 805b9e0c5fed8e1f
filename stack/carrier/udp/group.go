// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"net/netip"
)

// Group is the multicast group that the tool tipc(8) gives a network of the
// number netID, 1 to 9999, for a bearer whose own address is local:
// 228.0.X.Y with the number's two bytes, or ff02::N with its decimal digits read
// as hexadecimal. Source: docs/spec/01-wire.md §1.2.
func Group(netID uint32, local netip.Addr) netip.AddrPort {
	ip := netip.AddrFrom4([4]byte{228, 0, byte(netID >> 8), byte(netID)})
	if !local.Is4() {
		ip = netip.MustParseAddr(fmt.Sprintf("ff02::%d", netID%10000))
	}
	return netip.AddrPortFrom(ip, DefaultPort)
}
