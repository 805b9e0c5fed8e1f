// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
)

// Table is the table of utipc-lab bench datapath.
var Table = rounds.Table{Name: "datapath", Title: "The data path", Rows: rows(), Sets: sets()}

func rows() []rounds.Comparison {
	trip := "RDM 64 B round trip, spinning"
	one := "64 B messages one way, bundled, MTU "
	return []rounds.Comparison{
		{ID: "rtt-bare", What: trip + ", beside bare frames", Ours: "rtt/tipc spin", Beside: "rtt/bare", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 1.3},
		{ID: "rtt-tcp-spin", What: trip + ", beside TCP spinning", Ours: "rtt/tipc spin", Beside: "rtt/tcp spin", Metric: rounds.TripTime, Limit: "rtt/bare", Target: 2.2},
		{ID: "rtt-tcp-one-core", What: trip + ", beside TCP blocking on one core", Ours: "rtt/tipc spin", Beside: "rtt/tcp block, one core", Metric: rounds.TripTime, Limit: "rtt/bare", Target: 4},
		{ID: "rtt-gonet-one-core", What: trip + ", beside Go net TCP on one core", Ours: "rtt/tipc spin", Beside: "rtt/go net, one core", Metric: rounds.TripTime, Limit: "rtt/bare", Target: 5.5},
		{ID: "rtt-sleep-one-core-tcp", What: "both ends asleep on one core, beside blocking TCP", Ours: "rtt/tipc sleep, one core", Beside: "rtt/tcp block, one core", Metric: rounds.TripTime, Target: 1.1},
		{ID: "rtt-sleep-one-core-gonet", What: "both ends asleep on one core, beside Go net TCP", Ours: "rtt/tipc sleep, one core", Beside: "rtt/go net, one core", Metric: rounds.TripTime, Target: 1.5},
		{ID: "rtt-sleep-tcp", What: "both ends asleep, one core each, beside blocking TCP", Ours: "rtt/tipc sleep", Beside: "rtt/tcp block", Metric: rounds.TripTime, Target: 0.95},
		{ID: "rtt-adaptive-tcp", What: "Adaptive, one core each, beside blocking TCP", Ours: "rtt/tipc adaptive", Beside: "rtt/tcp block", Metric: rounds.TripTime, Limit: "rtt/bare", Target: 10},
		{ID: "burner", What: "Adaptive with a CPU burner on each core, beside Sleep", Ours: "burner/adaptive", Beside: "burner/sleep", Metric: rounds.TripRate, Target: 1, Kept: true},
		{ID: "quota", What: "Adaptive under a cgroup CPU quota of 50 %, beside Sleep", Ours: "quota/adaptive", Beside: "quota/sleep", Metric: rounds.TripRate, Target: 1, Kept: true},
		{ID: "bundle-1500-bare", What: one + "1500, beside the bare bundle loop", Ours: "bundle 1500/tipc", Beside: "bundle 1500/bare", Metric: rounds.Messages, Target: 0.45},
		{ID: "bundle-3506-bare", What: one + "3506, beside the bare bundle loop", Ours: "bundle 3506/tipc", Beside: "bundle 3506/bare", Metric: rounds.Messages, Target: 0.45},
		{ID: "bundle-1500-tcp", What: one + "1500, beside TCP with a write each", Ours: "bundle 1500/tipc", Beside: "bundle 1500/tcp", Metric: rounds.Messages, Limit: "bundle 1500/bare", Target: 20},
		{ID: "bundle-3506-tcp", What: one + "3506, beside TCP with a write each", Ours: "bundle 3506/tipc", Beside: "bundle 3506/tcp", Metric: rounds.Messages, Limit: "bundle 3506/bare", Target: 20},
		{ID: "single-bare", What: "64 B messages one way, one frame each, beside bare frames", Ours: "single/tipc", Beside: "single/bare", Metric: rounds.Messages, Target: 0.8},
		{ID: "overload", What: "delivered at twice the peak offered load, beside the peak", Ours: "overload/twice", Beside: "overload/peak", Metric: rounds.Messages, Target: 0.9},
		{ID: "bulk-1500-bare", What: "1400 B messages one way, MTU 1500, beside bare frames", Ours: "bulk 1500/tipc", Beside: "bulk 1500/bare", Metric: rounds.Bits, Target: 0.75},
		{ID: "bulk-9000-bare", What: "8900 B messages one way, MTU 9000, beside bare frames", Ours: "bulk 9000/tipc", Beside: "bulk 9000/bare", Metric: rounds.Bits, Target: 0.75},
		{ID: "bulk-65000-bare", What: "64000 B messages one way, MTU 65000, beside bare frames", Ours: "bulk 65000/tipc", Beside: "bulk 65000/bare", Metric: rounds.Bits, Target: 0.6},
		{ID: "bulk-1500-tcp", What: "1400 B messages one way, MTU 1500, beside TCP without offloads", Ours: "bulk 1500/tipc", Beside: "bulk 1500/tcp", Metric: rounds.Bits, Limit: "bulk 1500/bare", Target: 0.9},
		{ID: "bulk-9000-tcp", What: "8900 B messages one way, MTU 9000, beside TCP without offloads", Ours: "bulk 9000/tipc", Beside: "bulk 9000/tcp", Metric: rounds.Bits, Limit: "bulk 9000/bare", Target: 1.2},
		{ID: "bulk-65000-tcp", What: "64000 B messages one way, MTU 65000, beside TCP with TSO", Ours: "bulk 65000/tipc", Beside: "bulk 65000/tcp", Metric: rounds.Bits, Limit: "bulk 65000/bare", Target: 1.2},
		{ID: "udp", What: "UDP carrier with GSO, 1400 B messages, MTU 1500, beside TCP with TSO", Ours: "udp/tipc", Beside: "udp/tcp", Metric: rounds.Bits},
		{ID: "udp-stream", What: "UDP carrier with GSO, stream in writes of 64 KiB, MTU 1500, beside TCP with TSO", Ours: "udp/stream", Beside: "udp/tcp", Metric: rounds.Bits, Target: 1},
		{ID: "attached", What: "TCP on a veth with our program attached, beside without", Ours: "attached/with", Beside: "attached/without", Metric: rounds.Bits},
		{ID: "allocations", What: "allocations per message, both ways", Ours: "rtt/tipc spin", Also: "bundle 1500/tipc", Count: rounds.Allocations},
		{ID: "malformed", What: "valid goodput with malformed frames at line rate beside", Ours: "malformed/malformed", Beside: "malformed/alone", Metric: rounds.Messages, Limit: "malformed/foreign", Target: 0.5},
		{ID: "malformed-foreign", What: "the same, beside as many foreign frames", Ours: "malformed/malformed", Beside: "malformed/foreign", Metric: rounds.Messages},
	}
}
