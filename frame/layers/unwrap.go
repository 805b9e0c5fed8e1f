// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/utipc/utipc/frame"
)

// UDPPort is TIPC's port over UDP. Source: docs/spec/01-wire.md §1.2.
const UDPPort = 6118

// ErrFragment means a fragment of a UDP datagram. What it carries is not known before a
// [Joiner] has the whole.
var ErrFragment = errors.New("layers: fragment of an IP datagram")

// A Wrapping is what stands around a TIPC message in a frame.
type Wrapping struct {
	Dst, Src  frame.MAC
	VLANs     []uint16 // VLAN numbers, outermost first
	EtherType uint16   // behind all tags
	UDP       bool     // TIPC over UDP, else over Ethernet
	// The datagram's addresses, of UDP alone.
	From, To netip.Addr
}

// Unwrap finds the TIPC message in an Ethernet frame, behind any VLAN tags, or in
// a UDP datagram from or to port 6118 over IPv4 or IPv6. The message shares
// memory with b, is not parsed, and may have padding behind it. With an error, w
// holds what was read before it. Errors: frame.ErrTruncated when the headers are
// not all there, frame.ErrNotTIPC, ErrFragment, frame.ErrMalformed for an IP or
// UDP header that cannot be.
func Unwrap(b []byte) (w Wrapping, message []byte, err error) {
	if len(b) < frame.EthernetLen {
		return w, nil, frame.ErrTruncated
	}
	w.Dst, w.Src = frame.MAC(b[0:6]), frame.MAC(b[6:12])
	for b = b[12:]; ; b = b[4:] {
		if len(b) < 2 {
			return w, nil, frame.ErrTruncated
		}
		w.EtherType = binary.BigEndian.Uint16(b)
		if !isTag(w.EtherType) {
			break
		}
		if len(b) < 4 {
			return w, nil, frame.ErrTruncated
		}
		w.VLANs = append(w.VLANs, binary.BigEndian.Uint16(b[2:])&0xfff)
	}
	b = b[2:]
	switch w.EtherType {
	case frame.EtherType:
		return w, b, nil
	case 0x0800:
		w.From, w.To, b, err = ipv4(b)
	case 0x86dd:
		w.From, w.To, b, err = ipv6(b)
	default:
		err = frame.ErrNotTIPC
	}
	if err == nil {
		b, err = udp(b)
	}
	if err != nil {
		w.From, w.To = netip.Addr{}, netip.Addr{}
		return w, nil, err
	}
	w.UDP = true
	return w, b, nil
}

const (
	protoUDP       = 17
	protoFragment  = 44 // IPv6
	ip6Len         = 40
	ip6FragmentLen = 8
)

// ipv4 returns the UDP datagram in an IPv4 packet, and its addresses.
func ipv4(b []byte) (from, to netip.Addr, _ []byte, err error) {
	if len(b) < 20 {
		return from, to, nil, frame.ErrTruncated
	}
	hlen, size := int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:]))
	switch frag := binary.BigEndian.Uint16(b[6:]) & 0x3fff; {
	case b[0]>>4 != 4 || hlen < 20 || size < hlen:
		err = frame.ErrMalformed
	case b[9] != protoUDP:
		err = frame.ErrNotTIPC
	case frag != 0:
		err = ErrFragment
	case len(b) < hlen:
		err = frame.ErrTruncated
	}
	if err != nil {
		return from, to, nil, err
	}
	return netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:])), b[hlen:min(size, len(b))], nil
}

// ipv6 returns the UDP datagram in an IPv6 packet, and its addresses.
func ipv6(b []byte) (from, to netip.Addr, _ []byte, err error) {
	if len(b) < ip6Len {
		return from, to, nil, frame.ErrTruncated
	}
	switch {
	case b[0]>>4 != 6:
		err = frame.ErrMalformed
	case b[6] == protoFragment && len(b) < ip6Len+ip6FragmentLen:
		err = frame.ErrTruncated
	case b[6] == protoFragment && b[ip6Len] == protoUDP:
		err = ErrFragment
	case b[6] != protoUDP:
		err = frame.ErrNotTIPC
	}
	if err != nil {
		return from, to, nil, err
	}
	data := b[ip6Len:min(len(b), ip6Len+int(binary.BigEndian.Uint16(b[4:])))]
	return netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:])), data, nil
}

// udp returns what a datagram from or to TIPC's port carries.
func udp(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, frame.ErrTruncated
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	switch {
	case binary.BigEndian.Uint16(b) != UDPPort && binary.BigEndian.Uint16(b[2:]) != UDPPort:
		return nil, frame.ErrNotTIPC
	case size < 8:
		return nil, frame.ErrMalformed
	}
	return b[8:min(size, len(b))], nil
}
