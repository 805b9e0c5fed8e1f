// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"os"
	"strings"
)

// kernelBearer reports whether the kernel's own TIPC is bound to the interface,
// in the calling thread's network namespace. Where /proc is not mounted it
// cannot know, and says no.
func kernelBearer(ifname string) bool {
	table, err := os.ReadFile("/proc/thread-self/net/ptype")
	return err == nil && hasBearer(string(table), ifname)
}

// hasBearer looks for the kernel's TIPC in the table of packet handlers, of
// which these are lines (a handler of all interfaces has no device):
//
//	Type Device      Function
//	0800          ip_rcv
//	88ca eth0     tipc_l2_rcv_msg [tipc]
//	88ca eth1     packet_rcv
//
// Any handler of TIPC's EtherType on the device counts, except those of packet
// sockets, and except one printed as a number by a kernel without symbols, which
// may be either.
func hasBearer(table, ifname string) bool {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "88ca" || f[1] != ifname {
			continue
		}
		handler := f[2]
		switch {
		// packet_rcv, packet_rcv_fanout, packet_rcv_spkt, tpacket_rcv, and the
		// same with a suffix of the compiler's.
		case strings.HasPrefix(handler, "packet_rcv"), strings.HasPrefix(handler, "tpacket_rcv"):
		case strings.HasPrefix(handler, "0x"), strings.Trim(handler, "0123456789abcdef") == "":
		default:
			return true
		}
	}
	return false
}
