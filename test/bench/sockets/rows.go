// SPDX-License-Identifier: Apache-2.0

package sockets

import (
	"context"

	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Table is the table of utipc-lab bench sockets.
var Table = rounds.Table{Name: "sockets", Title: "Kinds of sockets", Rows: rows(), Sets: sets(), More: figures}

func rows() []rounds.Comparison {
	return []rounds.Comparison{
		{ID: "rtt-seqpacket", What: "SEQPACKET 64 B round trip, spinning, beside RDM", Ours: "rtt/seqpacket", Beside: "rtt/rdm", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 1.05},
		{ID: "rtt-stream", What: "STREAM 64 B round trip, spinning, beside RDM", Ours: "rtt/stream", Beside: "rtt/rdm", Metric: rounds.TripTime},
		{ID: "rtt-stream-tcp", What: "STREAM 64 B round trip, asleep, one core each, beside Go net TCP", Ours: "rtt/stream sleep", Beside: "rtt/go net", Metric: rounds.TripTime},
		{ID: "call-bare", What: "Call to an active port, 64 B, spinning, beside bare frames", Ours: "rtt/call", Beside: "rtt/bare", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 1.25},
		{ID: "call-rdm", What: "the same, beside RDM", Ours: "rtt/call", Beside: "rtt/rdm", Metric: rounds.TripTime, Goal: sheet.AtMost, Target: 1},
		{ID: "stream-9000", What: "STREAM, writes of 64000 B, MTU 9000, beside RDM of that size", Ours: "bulk 9000/stream", Beside: "bulk 9000/rdm", Metric: rounds.Bits, Limit: "bulk 9000/bare", Target: 0.9},
		{ID: "stream-65000", What: "STREAM, writes of 64000 B, MTU 65000, beside RDM of that size", Ours: "bulk 65000/stream", Beside: "bulk 65000/rdm", Metric: rounds.Bits, Limit: "bulk 65000/bare", Target: 0.9},
		{ID: "buffer-9000", What: "WriteBuffer and ReadBuffer of 64000 B, MTU 9000, beside bare frames of 8900 B", Ours: "bulk 9000/buffers", Beside: "bulk 9000/bare", Metric: rounds.Bits, Target: 0.8},
		{ID: "buffer-65000", What: "WriteBuffer and ReadBuffer of 64000 B, MTU 65000, beside bare frames", Ours: "bulk 65000/buffers", Beside: "bulk 65000/bare", Metric: rounds.Bits, Target: 0.8},
		{ID: "dials", What: "connections set up and closed a second, asleep, beside Go net TCP", Ours: "dials/tipc", Beside: "dials/tcp", Metric: rounds.TripRate},
	}
}

func sets() []rounds.Set {
	return []rounds.Set{
		{Name: "rtt", Profiled: []string{"call", "seqpacket"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: rounds.Bare(), Size: rounds.Small},
			{Name: "rdm", MTU: 1500, Ends: rounds.TIPC("spin"), Size: rounds.Small},
			{Name: "call", MTU: 1500, Ends: styleEnds("call"), Size: rounds.Small},
			{Name: "seqpacket", MTU: 1500, Ends: rounds.Conns("tipcpacket", "spin"), Size: rounds.Small},
			{Name: "stream", MTU: 1500, Ends: rounds.Conns("tipc", "spin"), Size: rounds.Small},
			{Name: "stream sleep", MTU: 1500, Ends: rounds.Conns("tipc", "sleep"), Size: rounds.Small},
			{Name: "go net", MTU: 1500, Ends: rounds.Conns("tcp", ""), Size: rounds.Small, Offloads: true},
		}},
		longWrites("bulk 9000", 9000, 8900),
		longWrites("bulk 65000", 65000, 64000),
		{Name: "dials", Variants: []station.Variant{
			{Name: "tipc", MTU: 1500, Ends: dialEnds("tipc", "sleep")},
			{Name: "tcp", MTU: 1500, Ends: dialEnds("tcp", ""), Offloads: true},
		}},
	}
}

// styleEnds are a node's that spins, and talks in a way of its own.
func styleEnds(socket string) [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.TIPC, Wait: "spin", Socket: socket})
}

func dialEnds(network, wait string) [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.Conns, Socket: network, Wait: wait, Dials: true})
}

// longWrites is messages one way of 64000 B, beside bare frames as long as they fit.
func longWrites(name string, mtu, frame int) rounds.Set {
	return rounds.Set{Name: name, Profiled: []string{"stream", "buffers"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: rounds.Bare(), OneWay: true, Size: frame},
		{Name: "rdm", MTU: mtu, Ends: rounds.TIPC("spin"), OneWay: true, Size: rounds.Long},
		{Name: "stream", MTU: mtu, Ends: rounds.Conns("tipc", "spin"), OneWay: true, Size: rounds.Long},
		{Name: "buffers", MTU: mtu, Ends: styleEnds("buffers"), OneWay: true, Size: rounds.Long},
	}}
}

// idleConns is how many connections are measured while nothing is under way.
const idleConns = 10_000

// figures are the last rows of the table.
var figures = []rounds.Single{
	{
		ID: "idle", What: "an idle connection, 10,000 of them: heap at each end", Unit: "B", Goal: sheet.AtMost, Target: 2048,
		Measure: func(ctx context.Context, _ rounds.Options) (rounds.Figure, error) {
			bytes, err := Idle(ctx, idleConns)
			return rounds.Figure{Value: bytes}, err
		},
	},
}
