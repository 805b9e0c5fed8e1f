// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"github.com/utipc/utipc/test/bench/bare"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/tcp"
	"github.com/utipc/utipc/test/bench/worker"
)

// small is the size of a small message, in bytes.
const small = 64

// both opens the same load at both ends.
func both(o worker.Open) [2]worker.Open { return [2]worker.Open{o, o} }

func bareEnds() [2]worker.Open            { return both(worker.Open{Load: worker.Bare}) }
func tipcEnds(wait string) [2]worker.Open { return both(worker.Open{Load: worker.TIPC, Wait: wait}) }

func tcpEnds(wait tcp.Wait) [2]worker.Open {
	return both(worker.Open{Load: worker.TCP, Wait: string(wait)})
}

// Sets returns all sets.
func Sets() []Set {
	return []Set{
		{Name: "rtt", Profiled: []string{"tipc spin", "tipc sleep, one core"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: bareEnds(), Size: small},
			{Name: "tipc spin", MTU: 1500, Ends: tipcEnds("spin"), Size: small},
			{Name: "tcp spin", MTU: 1500, Ends: tcpEnds(tcp.Spin), Size: small, Offloads: true},
			{Name: "tcp block, one core", MTU: 1500, Ends: tcpEnds(tcp.Block), Size: small, Offloads: true, OneCore: true},
			{Name: "go net, one core", MTU: 1500, Ends: tcpEnds(tcp.GoNet), Size: small, Offloads: true, OneCore: true},
			{Name: "tipc sleep, one core", MTU: 1500, Ends: tipcEnds("sleep"), Size: small, OneCore: true},
			{Name: "tipc sleep", MTU: 1500, Ends: tipcEnds("sleep"), Size: small},
			{Name: "tipc adaptive", MTU: 1500, Ends: tipcEnds("adaptive"), Size: small},
			{Name: "tcp block", MTU: 1500, Ends: tcpEnds(tcp.Block), Size: small, Offloads: true},
		}},
		{Name: "burner", Times: 4, Variants: []station.Variant{
			{Name: "adaptive", MTU: 1500, Ends: tipcEnds("adaptive"), Size: small, Burners: true},
			{Name: "sleep", MTU: 1500, Ends: tipcEnds("sleep"), Size: small, Burners: true},
		}},
		{Name: "quota", Times: 4, Variants: []station.Variant{
			{Name: "adaptive", MTU: 1500, Ends: tipcEnds("adaptive"), Size: small, Quota: 50},
			{Name: "sleep", MTU: 1500, Ends: tipcEnds("sleep"), Size: small, Quota: 50},
		}},
		bundles("bundle 1500", 1500),
		bundles("bundle 3506", 3506),
		{Name: "single", Profiled: []string{"tipc"}, Variants: []station.Variant{
			{Name: "bare", MTU: 1500, Ends: bareEnds(), OneWay: true, Size: small},
			{Name: "tipc", MTU: 1500, Ends: single(), OneWay: true, Size: small},
		}},
		{Name: "overload", Twice: [2]string{"twice", "peak"}, Variants: []station.Variant{
			{Name: "peak", MTU: 1500, Ends: datagrams(), OneWay: true, Size: small},
			{Name: "twice", MTU: 1500, Ends: datagrams(), OneWay: true, Size: small},
		}},
		bulk("bulk 1500", 1500, 1400, false),
		bulk("bulk 9000", 9000, 8900, false),
		bulk("bulk 65000", 65000, 64000, true),
		{Name: "udp", Variants: []station.Variant{
			{Name: "tipc", MTU: 1500, Ends: udpEnds(), OneWay: true, Size: 1400, Offloads: true},
			{Name: "tcp", MTU: 1500, Ends: tcpEnds(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true},
		}},
		{Name: "attached", Variants: []station.Variant{
			{Name: "without", MTU: 1500, Ends: tcpEnds(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true},
			{Name: "with", MTU: 1500, Ends: tcpEnds(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: true, Held: true},
		}},
		{Name: "malformed", Variants: []station.Variant{
			{Name: "alone", MTU: 1500, Ends: tipcEnds("spin"), OneWay: true, Size: small},
			{Name: "malformed", MTU: 1500, Ends: tipcEnds("spin"), OneWay: true, Size: small, Beside: "malformed"},
			{Name: "foreign", MTU: 1500, Ends: tipcEnds("spin"), OneWay: true, Size: small, Beside: "foreign"},
		}},
	}
}

func datagrams() [2]worker.Open {
	return both(worker.Open{Load: worker.TIPC, Wait: "spin", Datagram: true})
}

func single() [2]worker.Open {
	return both(worker.Open{Load: worker.TIPC, Wait: "spin", Single: true})
}

func udpEnds() [2]worker.Open {
	return both(worker.Open{Load: worker.TIPC, Wait: "spin", Driver: worker.UDP})
}

// bundles is small messages one way, as many in a frame as the sender can.
func bundles(name string, mtu int) Set {
	return Set{Name: name, Profiled: []string{"tipc"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: bareEnds(), OneWay: true, Size: small, Per: bare.PerFrame(mtu, small)},
		{Name: "tipc", MTU: mtu, Ends: tipcEnds("spin"), OneWay: true, Size: small},
		{Name: "tcp", MTU: mtu, Ends: tcpEnds(tcp.Block), OneWay: true, Size: small, Offloads: true},
	}}
}

// bulk is messages one way that fill a frame.
func bulk(name string, mtu, size int, offloads bool) Set {
	return Set{Name: name, Profiled: []string{"tipc"}, Variants: []station.Variant{
		{Name: "bare", MTU: mtu, Ends: bareEnds(), OneWay: true, Size: size},
		{Name: "tipc", MTU: mtu, Ends: tipcEnds("spin"), OneWay: true, Size: size},
		{Name: "tcp", MTU: mtu, Ends: tcpEnds(tcp.Block), OneWay: true, Size: 64 << 10, Offloads: offloads},
	}}
}
