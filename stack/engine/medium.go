// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net/netip"

	"github.com/utipc/utipc/frame"
)

// A Medium is what a bearer over UDP knows of its stations beyond an Ethernet's:
// the addresses that discovery tells. Its frames have Ethernet headers all the
// same, with station addresses of the device's own making. None of the methods
// waits, and while the frames are the same so are the answers.
type Medium interface {
	// Own is the bearer's own address.
	Own() netip.AddrPort
	// Remote is the address that frames of a station come from, while the medium
	// remembers it: at least until the poll that received such a frame is over.
	Remote(frame.MAC) (addr netip.AddrPort, ok bool)
	// Keep says that there is a link to a station, which then is not forgotten, or
	// that there is none any more.
	Keep(mac frame.MAC, up bool)
}

// udp is the bearer's own address; invalid on Ethernet.
func (b *bearer) udp() netip.AddrPort {
	if b.Medium == nil {
		return netip.AddrPort{}
	}
	return b.Medium.Own()
}

// parseDiscovery checks a discovery message as one of the bearer's medium.
func (b *bearer) parseDiscovery(m frame.Message) (frame.Discovery, error) {
	if b.Medium == nil {
		return frame.ParseDiscovery(m)
	}
	d, err := frame.ParseMediaDiscovery(m)
	if err == nil && d.Media().Type != frame.MediaUDP {
		err = frame.ErrUnknown
	}
	return d, err
}

// announces says what is wrong with the media address in a message that came from
// a station: it is the bearer's own, or not that station's. Those that fake the
// address they send from are found out later, when they cannot answer.
func (b *bearer) announces(d frame.Discovery, src frame.MAC) (own, other bool) {
	if b.Medium == nil {
		return d.MAC() == b.MAC, d.MAC() != src
	}
	addr, ok := b.Medium.Remote(src)
	told := d.Media().UDP
	return told == b.Medium.Own(), !ok || told != addr
}

// keep tells the medium whether there is a link to a station.
func (b *bearer) keep(mac frame.MAC, up bool) {
	if b.Medium != nil {
		b.Medium.Keep(mac, up)
	}
}

// identity is what a node is called when nothing else is configured: by its
// first bearer's address. On UDP it is the IP address, as in a kernel, and two
// nodes of one host differ by the port when that is another than TIPC's.
// Source: docs/spec/01-wire.md §1.2.
func (c BearerConfig) identity() (id frame.Identity) {
	if c.Medium == nil {
		return frame.MACIdentity(c.MAC)
	}
	a := c.Medium.Own()
	copy(id[:], a.Addr().AsSlice())
	const standard = 6118
	id[14] ^= byte((a.Port() ^ standard) >> 8)
	id[15] ^= byte(a.Port() ^ standard)
	return id
}
