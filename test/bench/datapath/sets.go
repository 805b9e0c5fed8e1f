// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"github.com/utipc/utipc/test/bench/load/bare"
	"github.com/utipc/utipc/test/bench/load/tcp"
	"github.com/utipc/utipc/test/bench/rounds"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

func sets() []rounds.Set {
	return []rounds.Set{
		{Name: "rtt", Profiled: []string{"tipc spin", "tipc sleep, one core"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: rounds.Bare(), Size: rounds.Small},
			{Name: "tipc spin", MTU: 1500, Ends: rounds.TIPC("spin"), Size: rounds.Small},
			{Name: "tcp spin", MTU: 1500, Ends: rounds.TCP(tcp.Spin), Size: rounds.Small, Offloads: true},
			{Name: "tcp block, one core", MTU: 1500, Ends: rounds.TCP(tcp.Block), Size: rounds.Small, Offloads: true, OneCore: true},
			{Name: "go net, one core", MTU: 1500, Ends: rounds.TCP(tcp.GoNet), Size: rounds.Small, Offloads: true, OneCore: true},
			{Name: "tipc sleep, one core", MTU: 1500, Ends: rounds.TIPC("sleep"), Size: rounds.Small, OneCore: true},
			{Name: "tipc sleep", MTU: 1500, Ends: rounds.TIPC("sleep"), Size: rounds.Small},
			{Name: "tipc adaptive", MTU: 1500, Ends: rounds.TIPC("adaptive"), Size: rounds.Small},
			{Name: "tcp block", MTU: 1500, Ends: rounds.TCP(tcp.Block), Size: rounds.Small, Offloads: true},
		}},
		{Name: "burner", Times: 4, Variants: []station.Variant{
			{Name: "adaptive", MTU: 1500, Ends: rounds.TIPC("adaptive"), Size: rounds.Small, Burners: true},
			{Name: "sleep", MTU: 1500, Ends: rounds.TIPC("sleep"), Size: rounds.Small, Burners: true},
		}},
		{Name: "quota", Times: 4, Variants: []station.Variant{
			{Name: "adaptive", MTU: 1500, Ends: rounds.TIPC("adaptive"), Size: rounds.Small, Quota: 50},
			{Name: "sleep", MTU: 1500, Ends: rounds.TIPC("sleep"), Size: rounds.Small, Quota: 50},
		}},
		bundles("bundle 1500", 1500),
		bundles("bundle 3506", 3506),
		{Name: "single", Profiled: []string{"tipc"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: rounds.Bare(), OneWay: true, Size: rounds.Small},
			{Name: "tipc", MTU: 1500, Ends: single(), OneWay: true, Size: rounds.Small},
		}},
		{Name: "overload", Twice: [2]string{"twice", "peak"}, Variants: []station.Variant{
			{Name: "peak", MTU: 1500, Ends: datagrams(), OneWay: true, Size: rounds.Small},
			{Name: "twice", MTU: 1500, Ends: datagrams(), OneWay: true, Size: rounds.Small},
		}},
		bulk("bulk 1500", 1500, 1400, false),
		bulk("bulk 9000", 9000, 8900, false),
		bulk("bulk 65000", 65000, 64000, true),
		{Name: "udp", Profiled: []string{"tipc", "stream"}, Variants: []station.Variant{
			{Name: "tipc", MTU: 1500, Ends: udpEnds(), OneWay: true, Size: 1400, Offloads: true},
			{Name: "stream", MTU: 1500, Ends: udpStreams(), OneWay: true, Size: 64 << 10, Offloads: true},
			{Name: "tcp", MTU: 1500, Ends: rounds.TCP(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true},
		}},
		{Name: "attached", Variants: []station.Variant{
			{Name: "without", MTU: 1500, Ends: rounds.TCP(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true},
			{Name: "with", MTU: 1500, Ends: rounds.TCP(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true, Held: true},
		}},
		{Name: "malformed", Variants: []station.Variant{
			{Name: "alone", MTU: 1500, Ends: rounds.TIPC("spin"), OneWay: true, Size: rounds.Small},
			{Name: "malformed", MTU: 1500, Ends: rounds.TIPC("spin"), OneWay: true, Size: rounds.Small, Beside: "malformed"},
			{Name: "foreign", MTU: 1500, Ends: rounds.TIPC("spin"), OneWay: true, Size: rounds.Small, Beside: "foreign"},
		}},
	}
}

func datagrams() [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.TIPC, Wait: "spin", Datagram: true})
}

func single() [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.TIPC, Wait: "spin", Single: true})
}

func udpEnds() [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.TIPC, Wait: "spin", Driver: worker.UDP})
}

func udpStreams() [2]worker.Open {
	return rounds.Ends(worker.Open{Load: worker.Conns, Socket: "tipc", Wait: "spin", Driver: worker.UDP})
}

// bundles is rounds.Small messages one way, as many in a frame as the sender can.
func bundles(name string, mtu int) rounds.Set {
	return rounds.Set{Name: name, Profiled: []string{"tipc"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: rounds.Bare(), OneWay: true, Size: rounds.Small, Per: bare.PerFrame(mtu, rounds.Small)},
		{Name: "tipc", MTU: mtu, Ends: rounds.TIPC("spin"), OneWay: true, Size: rounds.Small},
		{Name: "tcp", MTU: mtu, Ends: rounds.TCP(tcp.Block), OneWay: true, Size: rounds.Small, Offloads: true},
	}}
}

// bulk is messages one way that fill a frame.
func bulk(name string, mtu, size int, offloads bool) rounds.Set {
	return rounds.Set{Name: name, Profiled: []string{"tipc"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: rounds.Bare(), OneWay: true, Size: size},
		{Name: "tipc", MTU: mtu, Ends: rounds.TIPC("spin"), OneWay: true, Size: size},
		{Name: "tcp", MTU: mtu, Ends: rounds.TCP(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: offloads},
	}}
}
