// SPDX-License-Identifier: Apache-2.0

package xdp

import "testing"

func TestHasBearer(t *testing.T) {
	const head = "Type Device      Function\n0800          ip_rcv\n0004          llc_rcv\n"
	for _, c := range []struct {
		what, table string
		want        bool
	}{
		{"no TIPC", head, false},
		{"nothing", "", false},
		{"a bearer", head + "88ca eth0     tipc_l2_rcv_msg [tipc]\n86dd          ipv6_rcv\n", true},
		{"a bearer built in", head + "88ca eth0     tipc_l2_rcv_msg\n", true},
		{"a bearer, last line unended", head + "88ca eth0     tipc_l2_rcv_msg [tipc]", true},
		{"an old kernel's name", head + "88ca eth0     recv_msg [tipc]\n", true},
		{"a bearer on another interface", head + "88ca eth1     tipc_l2_rcv_msg [tipc]\n", false},
		{"a bearer on an interface that begins alike", head + "88ca eth0.5   tipc_l2_rcv_msg [tipc]\n", false},
		{"a long name, no padding", head + "88ca eth0123456789ab tipc_l2_rcv_msg [tipc]\n", false},
		{"another type", head + "88cc eth0     lldp_rcv [lldp]\n", false},
		{"a handler of all types", head + "ALL  eth0     packet_rcv [af_packet]\n", false},
		{"a handler of all interfaces", head + "88ca          tipc_rcv [tipc]\n", false},
		{"a packet socket", head + "88ca eth0     packet_rcv\n", false},
		{"a packet socket of a module", head + "88ca eth0     packet_rcv [af_packet]\n", false},
		{"an old packet socket", head + "88ca eth0     packet_rcv_spkt\n", false},
		{"a packet fan-out", head + "88ca eth0     packet_rcv_fanout\n", false},
		{"a packet ring", head + "88ca eth0     tpacket_rcv\n", false},
		{"a packet ring, compiler's suffix", head + "88ca eth0     tpacket_rcv.cfi_jt [af_packet]\n", false},
		{"a kernel without symbols", head + "88ca eth0     0xffffffff81a2b3c0\n", false},
		{"the same, no prefix", head + "88ca eth0     ffffffff81a2b3c0\n", false},
		{"a packet socket and a bearer", head + "88ca eth0     packet_rcv\n88ca eth0     tipc_l2_rcv_msg [tipc]\n", true},
	} {
		if got := hasBearer(c.table, "eth0"); got != c.want {
			t.Errorf("%s: got %v, want %v, in\n%s", c.what, got, c.want, c.table)
		}
	}
}
