// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/utipc/utipc/frame"
)

// maxDatagram is the largest an IP datagram may be, in bytes: with its header over IPv4,
// without over IPv6.
const maxDatagram = 0xffff

// A DatagramID names an IP datagram while its fragments are on their way.
// Source: RFC 791 §3.2, RFC 8200 §4.5.
type DatagramID struct {
	From, To netip.Addr
	ID       uint32 // of 16 bits with IPv4
	vlans    string // what a segment sees tagged and untagged is two datagrams
}

// String returns "10.0.0.1>10.0.0.2 id=1f3a".
func (d DatagramID) String() string { return fmt.Sprintf("%v>%v id=%04x", d.From, d.To, d.ID) }

// errNoFragment is a mistake of the caller.
var errNoFragment = errors.New("layers: not a fragment")

// A fragment is one fragment of a UDP datagram as it stands in a frame.
type fragment struct {
	key    DatagramID
	header []byte // from the Ethernet header to the end of the IP header; without IPv6's fragment header
	ip     int    // where in header the IP header begins
	at     int    // its place in the datagram, in bytes
	size   int    // its bytes on the wire
	data   []byte // its bytes, as many as were captured
	more   bool   // it is not the last one
}

// parseFragment reads a frame for which Unwrap returns ErrFragment. Errors: those of
// Joiner.Add.
func parseFragment(b []byte) (f fragment, err error) {
	switch _, _, err := Unwrap(b); {
	case err == nil:
		return f, errNoFragment
	case err != ErrFragment:
		return f, err
	}
	tags := frame.EthernetLen - 2
	for len(b) >= tags+4 && isTag(binary.BigEndian.Uint16(b[tags:])) {
		tags += 4
	}
	f.key.vlans = string(b[frame.EthernetLen-2 : tags])
	f.ip = tags + 2
	ip := b[f.ip:]
	var head, most int
	var end int // of the data, from the IP header on
	if ip[0]>>4 == 4 {
		head, end = int(ip[0]&0xf)*4, int(binary.BigEndian.Uint16(ip[2:]))
		place := binary.BigEndian.Uint16(ip[6:])
		f.at, f.more = int(place&0x1fff)*8, place&0x2000 != 0
		f.key.From, f.key.To = netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
		f.key.ID = uint32(binary.BigEndian.Uint16(ip[4:]))
		if len(ip) < head {
			return f, frame.ErrTruncated
		}
		f.header, most = b[:f.ip+head], maxDatagram-head
	} else {
		head, end = ip6Len+ip6FragmentLen, ip6Len+int(binary.BigEndian.Uint16(ip[4:]))
		place := binary.BigEndian.Uint16(ip[ip6Len+2:])
		f.at, f.more = int(place&^7), place&1 != 0
		f.key.From, f.key.To = netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
		f.key.ID = binary.BigEndian.Uint32(ip[ip6Len+4:])
		f.header, most = b[:f.ip+ip6Len], maxDatagram
	}
	f.size = end - head
	// Only the last fragment may end between two blocks of 8 bytes.
	if f.size <= 0 || f.more && f.size%8 != 0 || f.at+f.size > most {
		return f, frame.ErrMalformed
	}
	f.data = ip[head:min(end, len(ip))]
	return f, nil
}

// whole returns the frame that carries a datagram: data behind its first fragment's header.
func whole(header []byte, ip int, data []byte) []byte {
	b := append(append(make([]byte, 0, len(header)+len(data)), header...), data...)
	if h := b[ip:]; h[0]>>4 == 4 {
		binary.BigEndian.PutUint16(h[2:], uint16(len(h)))
		clear(h[6:8])
	} else {
		binary.BigEndian.PutUint16(h[4:], uint16(len(data)))
		h[6] = protoUDP
	}
	return b
}

func isTag(etherType uint16) bool { return etherType == 0x8100 || etherType == 0x88a8 }
