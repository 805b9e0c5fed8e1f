// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/netlink"
)

// A linkState is what a watch tells of an interface.
type linkState struct {
	mtu     int // bytes; 0 while down or without carrier
	removed bool
	port    bool      // of a bridge, a bond or the like, which takes the frames that arrive
	mac     frame.MAC // zero: not said
}

// carries is how long a message may be, in bytes; 0 while none would arrive.
func (s linkState) carries() int {
	if s.port {
		return 0
	}
	return s.mtu
}

// linkNews returns what the messages in b, from the kernel's rtnetlink, say last
// about the interface of that number; told is false when they say nothing of it.
// A message that is cut counts as far as it goes, which is enough: the MTU is
// among the first attributes.
func linkNews(b []byte, index int) (s linkState, told bool) {
	for {
		m, rest, ok := netlink.Next(b)
		if !ok {
			return s, told
		}
		switch m.Type {
		case unix.NLMSG_ERROR: // our question's answer
			if errno, ok := m.Errno(); ok && errno == unix.ENODEV {
				s, told = linkState{removed: true}, true
			}
		case unix.RTM_DELLINK:
			// A bridge tells in the same way that the interface is not its own any
			// more, but under its family.
			if isLink(m.Body, index) {
				s, told = linkState{removed: true}, true
			}
		case unix.RTM_NEWLINK:
			if isLink(m.Body, index) {
				attrs := m.Body[unix.SizeofIfInfomsg:]
				s, told = linkState{mtu: runningMTU(m.Body), port: masterOf(attrs) > 0}, true
				if v := netlink.Attribute(attrs, unix.IFLA_ADDRESS); len(v) == len(s.mac) {
					s.mac = frame.MAC(v)
				}
			}
		}
		b = rest
	}
}

// isLink reports whether an rtnetlink message is about the interface itself.
func isLink(body []byte, index int) bool {
	return len(body) >= unix.SizeofIfInfomsg && body[0] == unix.AF_UNSPEC &&
		binary.NativeEndian.Uint32(body[4:]) == uint32(index)
}

// runningMTU returns the MTU in a message that isLink holds for, 0 when the
// interface is down or has no carrier. It takes all three flags to know: a new
// interface counts as running until the kernel has looked for the carrier.
func runningMTU(body []byte) int {
	const running = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	v := netlink.Attribute(body[unix.SizeofIfInfomsg:], unix.IFLA_MTU)
	if binary.NativeEndian.Uint32(body[8:])&running != running || len(v) < 4 {
		return 0
	}
	return int(min(binary.NativeEndian.Uint32(v), 1<<20))
}
