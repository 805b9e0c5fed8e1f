// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"net/netip"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A medium is what a bearer over UDP knows of a recorded segment: the address
// behind each station. A frame of a group is fed as a broadcast.
type medium struct {
	own   frame.MAC
	addrs map[frame.MAC]netip.AddrPort
}

// Own implements engine.Medium.
func (m medium) Own() netip.AddrPort { return m.addrs[m.own] }

// Remote implements engine.Medium.
func (m medium) Remote(mac frame.MAC) (netip.AddrPort, bool) {
	a, ok := m.addrs[mac]
	return a, ok
}

// Keep implements engine.Medium.
func (m medium) Keep(frame.MAC, bool) {}

// sender returns the address a UDP datagram in an Ethernet frame comes from, when
// layers.Unwrap has found one there.
func sender(b []byte, w layers.Wrapping) (netip.AddrPort, bool) {
	b = b[frame.EthernetLen+4*len(w.VLANs):]
	if w.EtherType == etherIPv4 {
		port := binary.BigEndian.Uint16(b[int(b[0]&0xf)*4:])
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[12:])), port), port != 0
	}
	port := binary.BigEndian.Uint16(b[40:])
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port), port != 0
}

const etherIPv4 = 0x0800
