// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// pathMTUs are the sizes tried on a path that carries less than the interface, in bytes:
// jumbo frames, Ethernet, Ethernet inside a tunnel, the least of IPv6, the least of IPv4.
var pathMTUs = [...]uint16{9000, 1500, 1400, 1280, 576}

// narrowRepeats is how often a packet must have been asked for before its length is suspected.
const narrowRepeats = 3

// usableMTU is the MTU of the interface, or what its path carries of it:
//
//	not bounded --(oldest packet, asked for and repeated for 10 tolerances)--> the next smaller of pathMTUs
//	bounded --(the same)--> the next smaller
//	bounded --(peer silent, or another MTU of the interface)--> not bounded
//
// A bound holds from the next session on, in which both ends learn it by the field for the
// largest packet of RESET and ACTIVATE. Source: docs/spec/02-link.md §4.6.
func (l *Link) usableMTU() int {
	if l.pathMTU > 0 {
		return min(int(l.pathMTU), int(l.ownMTU))
	}
	return int(l.ownMTU)
}

// PathMTU is the bound, in bytes, that the link has put on its packets because the path
// carries less than the interface; 0: none.
func (l *Link) PathMTU() int { return int(l.pathMTU) }

// suspectPath bounds the packets of the next session if the oldest packet, which the peer has
// not acknowledged for too long, is one that the peer asked for again and again. That it asks
// shows that short packets get through.
func (l *Link) suspectPath() {
	if l.transmit.Len() == 0 || l.cast != nil {
		return
	}
	p := l.transmit.At(0)
	if !p.waits() || p.retransmits < narrowRepeats || l.cfg.AsKernel {
		return
	}
	size := p.b.Len() - frame.EthernetLen
	if l.cfg.Overhead > 0 {
		size = (size+3)&^3 + l.cfg.Overhead
	}
	for _, mtu := range pathMTUs {
		if int(mtu) < size && l.fits(int(mtu)) >= frame.MinMTU {
			l.pathMTU = mtu
			return
		}
	}
}
