// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// SocketRows returns the rows of the table of sockets, in order.
func SocketRows() []Row {
	return []Row{
		{ID: "rtt-seqpacket", What: "SEQPACKET 64 B round trip, spinning, beside RDM", Ours: "rtt/seqpacket", Beside: "rtt/rdm", Metric: TripTime, Goal: AtMost, Target: 1.05},
		{ID: "rtt-stream", What: "STREAM 64 B round trip, spinning, beside RDM", Ours: "rtt/stream", Beside: "rtt/rdm", Metric: TripTime, Goal: Printed},
		{ID: "rtt-stream-tcp", What: "STREAM 64 B round trip, asleep, one core each, beside Go net TCP", Ours: "rtt/stream sleep", Beside: "rtt/go net", Metric: TripTime, Goal: Printed},
		{ID: "call-bare", What: "Call to an active port, 64 B, spinning, beside bare frames", Ours: "rtt/call", Beside: "rtt/bare", Metric: TripTime, Goal: AtMost, Target: 1.25},
		{ID: "call-rdm", What: "the same, beside RDM", Ours: "rtt/call", Beside: "rtt/rdm", Metric: TripTime, Goal: AtMost, Target: 1},
		{ID: "stream-9000", What: "STREAM, writes of 64000 B, MTU 9000, beside RDM of that size", Ours: "bulk 9000/stream", Beside: "bulk 9000/rdm", Metric: Bits, Limit: "bulk 9000/bare", Target: 0.9},
		{ID: "stream-65000", What: "STREAM, writes of 64000 B, MTU 65000, beside RDM of that size", Ours: "bulk 65000/stream", Beside: "bulk 65000/rdm", Metric: Bits, Limit: "bulk 65000/bare", Target: 0.9},
		{ID: "buffer-9000", What: "WriteBuffer and ReadBuffer of 64000 B, MTU 9000, beside bare frames of 8900 B", Ours: "bulk 9000/buffers", Beside: "bulk 9000/bare", Metric: Bits, Target: 0.8},
		{ID: "buffer-65000", What: "WriteBuffer and ReadBuffer of 64000 B, MTU 65000, beside bare frames", Ours: "bulk 65000/buffers", Beside: "bulk 65000/bare", Metric: Bits, Target: 0.8},
		{ID: "dials", What: "connections set up and closed a second, asleep, beside Go net TCP", Ours: "dials/tipc", Beside: "dials/tcp", Metric: TripRate, Goal: Printed},
	}
}

// SocketSets returns the sets of the table of sockets.
func SocketSets() []Set {
	return []Set{
		{Name: "rtt", Profiled: []string{"call", "seqpacket"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: bareEnds(), Size: small},
			{Name: "rdm", MTU: 1500, Ends: tipcEnds("spin"), Size: small},
			{Name: "call", MTU: 1500, Ends: styleEnds("call"), Size: small},
			{Name: "seqpacket", MTU: 1500, Ends: connEnds("tipcpacket", "spin"), Size: small},
			{Name: "stream", MTU: 1500, Ends: connEnds("tipc", "spin"), Size: small},
			{Name: "stream sleep", MTU: 1500, Ends: connEnds("tipc", "sleep"), Size: small},
			{Name: "go net", MTU: 1500, Ends: connEnds("tcp", ""), Size: small, Offloads: true},
		}},
		longWrites("bulk 9000", 9000, 8900),
		longWrites("bulk 65000", 65000, 64000),
		{Name: "dials", Variants: []station.Variant{
			{Name: "tipc", MTU: 1500, Ends: dialEnds("tipc", "sleep")},
			{Name: "tcp", MTU: 1500, Ends: dialEnds("tcp", ""), Offloads: true},
		}},
	}
}

func connEnds(network, wait string) [2]worker.Open {
	return both(worker.Open{Load: worker.Conns, Socket: network, Wait: wait})
}

// styleEnds are a node's that spins, and talks in a way of its own.
func styleEnds(socket string) [2]worker.Open {
	return both(worker.Open{Load: worker.TIPC, Wait: "spin", Socket: socket})
}

func dialEnds(network, wait string) [2]worker.Open {
	return both(worker.Open{Load: worker.Conns, Socket: network, Wait: wait, Dials: true})
}

// long is the size of a long write, in bytes.
const long = 64000

// longWrites is messages one way of 64000 B, beside bare frames as long as they fit.
func longWrites(name string, mtu, frame int) Set {
	return Set{Name: name, Profiled: []string{"stream", "buffers"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: bareEnds(), OneWay: true, Size: frame},
		{Name: "rdm", MTU: mtu, Ends: tipcEnds("spin"), OneWay: true, Size: long},
		{Name: "stream", MTU: mtu, Ends: connEnds("tipc", "spin"), OneWay: true, Size: long},
		{Name: "buffers", MTU: mtu, Ends: styleEnds("buffers"), OneWay: true, Size: long},
	}}
}
