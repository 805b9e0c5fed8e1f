// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// What the kernel tells a classic filter about a frame besides its bytes, at
// offsets no frame has. Source: linux/filter.h.
const (
	adOff     = 1<<32 - 0x1000 // SKF_AD_OFF, -4096 in 32 bits
	adPktType = adOff + 4      // SKF_AD_PKTTYPE: to whom it is addressed
	adIfIndex = adOff + 8      // SKF_AD_IFINDEX: the interface it belongs to
	adVLANTag = adOff + 48     // SKF_AD_VLAN_TAG_PRESENT: 1 when a tag was taken off
	adEther   = 12             // the EtherType, in the frame's own bytes
)

// stationFilter keeps what a station of an untagged network hears on the interface of
// that number: frames of TIPC's EtherType addressed to it, to a group or to all. A
// promiscuous interface shows more, and so do frames that carried a VLAN tag: theirs is
// another network, and the kernel has moved the tag out of the frame's bytes.
// Source: docs/spec/01-wire.md §1.1.
//
// Linux 6.18 declares the frames of a VLAN that has no interface here to be
// another station's and forgets the tag, so the second rule drops them already;
// the third is for where the tag is still known. A tag with VLAN number 0 gives
// a priority and no network; such frames pass, as they do in the kernel's TIPC.
//
// The first rule is for frames that the kernel gives on to an interface above this one: a
// VLAN, or a macvlan that they are addressed to. By then no tag is left, they look as if
// addressed to us, and only the interface that they belong to tells.
func stationFilter(index int) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: adIfIndex},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(index), Jf: 7},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: adPktType},
		// Host, broadcast and multicast are 0 to 2; other host, outgoing and
		// looped back are above.
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: unix.PACKET_MULTICAST, Jt: 5},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: adVLANTag},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: adEther}, // drops what is shorter
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: frame.EtherType, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1<<32 - 1}, // the whole frame
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},         // nothing of it
	}
}
