// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"reflect"
	"testing"
	"time"
)

// What the tool prints is read number by number.
func TestParseStatistics(t *testing.T) {
	const statistics = `
Link <broadcast-link>
  Window:50 packets
  RX packets:9 fragments:9/9 bundles:9/9
  TX packets:467 fragments:0/0 bundles:45/1131
  RX naks:1 defs:0 dups:0
  TX naks:0 acks:0 retrans:13
  Congestion link:1  Send queue max:0 avg:0

Link <1001001:eth0-1001002:eth0>
  ACTIVE  MTU:1500  Priority:10  Tolerance:1500 ms  Window:50 packets
  RX packets:235 fragments:3/4 bundles:2/33
  TX packets:2600 fragments:712/20 bundles:32/998
  TX profile sample:26 packets average:2580 octets
  0-64:92% -256:4% -1024:0% -4096:0% -16384:0% -32768:0% -66000:4%
  RX states:2383 probes:1081 naks:5 defs:6 dups:7
  TX states:2237 probes:1073 naks:8 acks:9 retrans:10
  Congestion link:2  Send queue max:0 avg:0

Link <1001001:eth1-1001002:eth1>
  STANDBY  MTU:9000  Priority:9  Tolerance:800 ms  Window:60 packets
  RX packets:1 fragments:0/0 bundles:0/0

`
	const list = "broadcast-link: up\n1001001:eth0-1001002:eth0: up\n1001001:eth1-1001002:eth1: down\n"
	want := []LinkStatistics{{
		Name: "1001001:eth0-1001002:eth0", State: "ACTIVE", Up: true, MTU: 1500, Priority: 10, Tolerance: 1500 * time.Millisecond, Window: 50,
		ReceivedPackets: 235, ReceivedFragments: 3, ReceivedFragmented: 4, ReceivedBundles: 2, ReceivedBundled: 33,
		SentPackets: 2600, SentFragments: 712, SentFragmented: 20, SentBundles: 32, SentBundled: 998,
		ReceivedStates: 2383, ReceivedProbes: 1081, ReceivedNaks: 5, Deferred: 6, Duplicates: 7,
		SentStates: 2237, SentProbes: 1073, SentNaks: 8, SentAcks: 9, Retransmitted: 10, Congested: 2,
	}, {
		Name: "1001001:eth1-1001002:eth1", State: "STANDBY", MTU: 9000, Priority: 9, Tolerance: 800 * time.Millisecond, Window: 60,
		ReceivedPackets: 1,
	}}
	got, err := parseStatistics(statistics, list)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if _, err := parseStatistics("Link <a>\n  RX packets:x", ""); err == nil {
		t.Error("no error for a number that is none")
	}
}
