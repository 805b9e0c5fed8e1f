// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/load/judge"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var fabrics = Kind{
	Name: "fabrics", Title: "Compared with libfabric, UCX and the drivers of DPDK", Ends: true, Measure: measureFabrics,
	How: `The libraries that HPC programs send messages through, measured by their own programs: fi_pingpong of libfabric,
over its providers for TCP and UDP, and ucx_perftest of UCX over TCP. All poll, as ours does here. The time is the
mean of a round trip, since fi_pingpong reports no median. The ratio is theirs / ours: above 1 ours is faster.

testpmd of DPDK says what another driver moves through the same interface: bare frames of 64 B one way, by AF_PACKET
and by AF_XDP, compared with bare frames by the drivers of this project. The ratio is ours / theirs.

Both ends have one core each. MTU 1500. At most three rounds; testpmd counts for a second.`,
}

// Names of what is measured, besides those in subjects.go.
const (
	fabricTCP    = "libfabric, TCP"
	fabricUDP    = "libfabric, UDP"
	ucxTCP       = "UCX, TCP"
	dpdkPacket   = "testpmd, net_af_packet"
	dpdkXDP      = "testpmd, net_af_xdp"
	framesPacket = "bare frames, AF_PACKET"
	framesXDP    = "bare frames, AF_XDP"
)

var fabricLoads = map[string]worker.Open{
	fabricTCP:  {Load: worker.Pingpong, Socket: "tcp"},
	fabricUDP:  {Load: worker.Pingpong, Socket: "udp"},
	ucxTCP:     {Load: worker.Perftest},
	dpdkPacket: {Load: worker.Testpmd, Socket: "af_packet"},
	dpdkXDP:    {Load: worker.Testpmd, Socket: "af_xdp"},
}

// meanTrip is the mean of round trips, not their median.
var meanTrip Value = func(r station.Run) float64 {
	if r.Ends[0].Count == 0 {
		return 0
	}
	return r.Ends[0].Elapsed.Seconds() / float64(r.Ends[0].Count)
}

func measureFabrics(b *Bench) (s figure.Section, err error) {
	h := outsideTable{b: b, s: &s, loads: fabricLoads, table: figure.Table{ID: "fabrics", Title: "Ours, and theirs", Heads: []string{"", "ours", "theirs", "ratio"}}}
	defer h.limitRounds()()
	trips := Contest{Section: "fabrics", What: "round trip", Value: meanTrip, Less: true, Unit: figure.Seconds, Reason: latencyReason}
	sizes := some(b.Plan, []int{64, 1 << 10})
	h.measure(judge.Pingpong, []Pair{{messagesSpin, fabricTCP}, {messagesSpin, fabricUDP}}, nil, sizes, trips)
	h.measure(judge.Perftest, []Pair{{messagesSpin, ucxTCP}}, nil, sizes, trips)
	frames := Contest{Section: "fabrics", What: "bare frames", Value: messages, Unit: figure.PerSecond, Reason: func(Pair, station.Exchange) string { return whyFrames }}
	h.measure(judge.Testpmd, []Pair{{framesPacket, dpdkPacket}, {framesXDP, dpdkXDP}}, bareFrames(), []int{64}, frames)
	s.Tables = []figure.Table{h.table}
	return s, nil
}

// bareFrames are our drivers without a node.
func bareFrames() (all []Subject) {
	for _, d := range []struct{ name, driver string }{{framesPacket, worker.Packet}, {framesXDP, worker.XDP}} {
		o := worker.Open{Load: worker.Bare, Driver: d.driver}
		all = append(all, Subject{Ours: true, Variant: station.Variant{Name: d.name, MTU: mtu, Ends: [2]worker.Open{o, o}}})
	}
	return all
}
