// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// What the network does not do, and what to do about it. Mutations: write leaves out links, the
// remedy of bearers, or whose address is claimed.
func TestDoctorOnImpairments(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := daemonCheckup{
		Socket: "/run/utipc/utipc.sock", Node: "1.1.1",
		Bearers: []bearerCheckup{{"eth:eth0", "down", now.Add(-3 * time.Second), "interface eth0 is down", "ip link set dev eth0 up", "eth0.184, mac0"}},
		Claimed: &admin.Conflict{Node: 0x1001001, Station: "02:00:00:00:00:09", Bearer: "eth0", Ago: 3 * time.Second},
	}
	for _, f := range []engine.Impairment{engine.MulticastIn, engine.MulticastOut, engine.OneWay, engine.NarrowPath} {
		d.Links = append(d.Links, linkCheckup{"1001001:eth0-1001002:eth0", f.String(), 1400})
	}
	var s sheet
	d.write(&s, now)
	wantLines(t, "impairments", s.String(), "eth:eth0 down for 3s: interface eth0 is down", "ip link set dev eth0 up\n", "above eth:eth0 eth0.184, mac0\n", "utipc bearer enable media eth device eth0.184\n",
		"1001001:eth0-1001002:eth0 multicast from the peer not seen, unicast is\n", "1001001:eth0-1001002:eth0 multicast to the peer not acknowledged, unicast is\n", "utipc link set broadcast REPLICAST\n",
		"1001001:eth0-1001002:eth0 the peer is heard and does not answer\n", "1001001:eth0-1001002:eth0 the path carries shorter frames than the interface\n", "ip link set dev IFACE mtu 1400\n",
		"conflict node 1001001 is claimed by station 02:00:00:00:00:09 on eth0 ")
}
