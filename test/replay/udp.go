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

// A joiner puts IPv4 datagrams together of which all fragments come one behind
// the other, as they do on a segment that loses none.
type joiner struct {
	key   [16]byte // addresses, number and protocol
	whole []byte   // the frame so far; nil: none
}

// add takes a frame that carries a fragment and returns the frame that carries
// the datagram, when this was its last.
func (j *joiner) add(b []byte) (whole []byte, ok bool) {
	if len(b) < frame.EthernetLen+20 || binary.BigEndian.Uint16(b[12:]) != etherIPv4 {
		return nil, false
	}
	ip := b[frame.EthernetLen:]
	hlen, size := int(ip[0]&0xf)*4, int(binary.BigEndian.Uint16(ip[2:]))
	if hlen < 20 || size < hlen || size > len(ip) {
		return nil, false
	}
	frag := binary.BigEndian.Uint16(ip[6:])
	more, at := frag&0x2000 != 0, int(frag&0x1fff)*8
	var key [16]byte
	copy(key[:], ip[12:20])
	copy(key[8:], ip[4:6])
	key[10] = ip[9]
	switch {
	case at == 0:
		j.key = key
		j.whole = append([]byte(nil), b[:frame.EthernetLen+size]...)
	case j.whole == nil || key != j.key || at != len(j.whole)-frame.EthernetLen-int(j.whole[frame.EthernetLen]&0xf)*4:
		j.whole = nil
		return nil, false
	default:
		j.whole = append(j.whole, ip[hlen:size]...)
	}
	if more {
		return nil, false
	}
	whole, j.whole = j.whole, nil
	ip = whole[frame.EthernetLen:]
	if len(ip) > 0xffff {
		return nil, false
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	clear(ip[6:8])
	return whole, true
}
