// SPDX-License-Identifier: Apache-2.0

package tipcmemberlist

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/utipc/utipc/stack"
)

// Memberlist carries addresses of members as an IP address and a port. A member's name stands in
// a unique local IPv6 address (RFC 4193): this prefix, then the type and the instance. No packet
// is ever sent to it.
var prefix = [8]byte{0xfd, 'T', 'I', 'P', 'C'}

// port stands in addresses because memberlist wants one that is not zero.
const port = 1

// Address returns how memberlist writes a member's name: what Join takes.
func Address(name stack.Service) string {
	return netip.AddrPortFrom(toIP(name), port).String()
}

func toIP(name stack.Service) netip.Addr {
	b := prefix[:]
	b = binary.BigEndian.AppendUint32(b[:len(b):len(b)], name.Type)
	b = binary.BigEndian.AppendUint32(b, name.Instance)
	return netip.AddrFrom16([16]byte(b))
}

// parse reads what Address writes, or the text of a TIPC address, as packets come from.
func parse(address string) (net.Addr, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return stack.ParseAddr(address)
	}
	b := ap.Addr().As16()
	if [8]byte(b[:8]) != prefix {
		return nil, fmt.Errorf("tipcmemberlist: %q is not the address of a member (join tipcmemberlist.Address(name))", address)
	}
	return stack.Service{Type: binary.BigEndian.Uint32(b[8:]), Instance: binary.BigEndian.Uint32(b[12:])}, nil
}
