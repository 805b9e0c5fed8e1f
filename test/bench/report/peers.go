// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var peers = Kind{
	Name: "peers", Title: "Beside gRPC, ZeroMQ, nng, NATS and Go's TCP", Ends: true, Measure: measurePeers,
	How: `What a Go program would otherwise be written with, each in its newest version and set as is best for it
(below). Two processes, one core each, hence GOMAXPROCS 1, on a veth cable of MTU 1500; TCP under them has
cubic, NODELAY and offloads. All sleep; ours is adaptive, which is how a node waits unless it is told.

Round trips: a message and its answer, a call of gRPC's, a request and its reply in ZeroMQ, nng and NATS. NATS has
a server between its clients, in the process of end 1. "gRPC over utipc" is the same program with a Listener
and a dialer of a node's in place of TCP's. One way: gRPC's is one stream, TCP's a write a message.

Processor time is that of both ends, user and system, for a round trip or a message.

The program that has these systems is a module of its own, built when it is first wanted: --peers PATH names one
that is built.`,
}

// Names of the systems, besides those in subjects.go.
const (
	grpcTIPC = "gRPC over utipc"
	grpcTCP  = "gRPC"
	zeroMQ   = "ZeroMQ"
	nngTCP   = "nng"
	natsTCP  = "NATS"
)

// peerLoads are what the other program is asked for.
var peerLoads = map[string]worker.Open{
	grpcTIPC: {Load: "grpc", Socket: "tipc", Wait: "adaptive"},
	grpcTCP:  {Load: "grpc", Socket: "tcp"},
	zeroMQ:   {Load: "zeromq", Socket: "tcp"},
	nngTCP:   {Load: "nng", Socket: "tcp"},
	natsTCP:  {Load: "nats", Socket: "tcp"},
}

// peerPairs are those of round trips and of what goes one way.
var (
	peerTripPairs = []Pair{
		{messagesAdaptive, tcpGo}, {callAdaptive, grpcTCP}, {streamAdaptive, grpcTCP}, {messagesAdaptive, zeroMQ}, {messagesAdaptive, nngTCP}, {messagesAdaptive, natsTCP}, {grpcTIPC, grpcTCP},
	}
	peerFlowPairs = []Pair{
		{streamAdaptive, tcpGo}, {streamAdaptive, grpcTCP}, {messagesAdaptive, zeroMQ}, {messagesAdaptive, nngTCP}, {messagesAdaptive, natsTCP}, {grpcTIPC, grpcTCP},
	}
)

// peerSizes are sizes of messages, in bytes.
var peerSizes = []int{64, 1 << 10, 16 << 10, 64 << 10, 256 << 10}

func measurePeers(b *Bench) (s figure.Section, err error) {
	others, missing := b.peerSubjects()
	s.Errors = missing
	sizes := some(b.Plan, peerSizes)
	loaded := sizes[:len(sizes)-1]
	trips := b.Take("peers, round trips", append(named(mtu, messagesAdaptive, streamAdaptive, callAdaptive, tcpGo), others...), exchanges(false, sizes, loaded))
	flows := b.Take("peers, one way", append(named(mtu, messagesAdaptive, streamAdaptive, tcpGo), others...), exchanges(true, sizes, loaded))
	s.Errors = append(append(s.Errors, trips.Errors...), flows.Errors...)
	for _, burners := range []bool{false, true} {
		b.peerFigures(&s, trips, flows, burners)
	}
	for _, o := range others {
		if how := settings(trips.Outcome(o.Name).Infos); how != "" {
			s.Says = append(s.Says, o.Name+": "+how+".")
		}
	}
	return s, nil
}

// peerFigures adds the figures of idle cores, or of those with burners.
func (b *Bench) peerFigures(s *figure.Section, trips, flows *Take, burners bool) {
	id, where := "idle", "cores idle"
	if burners {
		id, where = "loaded", "a CPU burner on each core"
	}
	plot := func(name, title, label string, unit figure.Unit, all []figure.Series) figure.Figure {
		f := figure.Figure{ID: "peers-" + name + "-" + id, Title: title + ", " + where, X: sizeAxis, Y: figure.Axis{Label: label, Unit: unit, Log: true}, Series: all}
		s.Figures = append(s.Figures, f)
		return f
	}
	there, way := sizes(false, burners), sizes(true, burners)
	plot("trips", "Round trip against size", "round trip", figure.Seconds, trips.All(there, tripTime))
	f := plot("trips-ratio", "How many times as fast ours is", "other / ours", figure.Ratio, b.Ratios(trips,
		Contest{Section: "peers", What: "round trip", Value: tripTime, Less: true, Unit: figure.Seconds, Pairs: peerTripPairs, Reason: peerTripReason}, there, where))
	s.Says = append(s.Says, best(f, "Round trips, "+where))
	plot("trips-cpu", "Processor time of a round trip, both ends", "processor time", figure.Seconds, trips.All(there, cpuEach))
	plot("flows", "Throughput against size", "throughput", figure.BitsPerSecond, flows.All(way, bits))
	plot("messages", "Messages a second against size", "messages", figure.PerSecond, flows.All(way, messages))
	f = plot("flows-ratio", "How many times the throughput ours has", "ours / other", figure.Ratio, b.Ratios(flows,
		Contest{Section: "peers", What: "one way", Value: bits, Unit: figure.BitsPerSecond, Pairs: peerFlowPairs, Reason: peerFlowReason}, way, where))
	s.Says = append(s.Says, best(f, "Throughput, "+where))
	plot("flows-cpu", "Processor time of a message, both ends", "processor time", figure.Seconds, flows.All(way, cpuEach))
}

// cpuEach is the processor time of both ends for a message, or a round trip.
var cpuEach Value = func(r station.Run) float64 { return r.CPU().Seconds() }

// peerSubjects are the systems of the other program, and what is missing of it.
func (b *Bench) peerSubjects() (all []Subject, missing []string) {
	b.say("building the program that has gRPC, ZeroMQ, nng and NATS")
	p := findPeers(b.Context, b.Peers)
	for _, name := range []string{grpcTCP, grpcTIPC, zeroMQ, nngTCP, natsTCP} {
		if p.path == "" || name == zeroMQ && p.noZeroMQ || name == nngTCP && p.noNNG {
			continue
		}
		o := peerLoads[name]
		all = append(all, Subject{Ours: name == grpcTIPC, Variant: station.Variant{
			Name: name, MTU: mtu, Ends: [2]worker.Open{o, o}, Program: []string{p.path}, Offloads: name != grpcTIPC,
		}})
	}
	return all, p.missing
}

// settings is how a system was set, as its end 1 says.
func settings(infos [2]load.Info) string { return strings.TrimSuffix(infos[1].Settings, ".") }

// Of a profile of both ends, all sizes, 44 % were turns of the node, 32 % the system call that sends.
const whyLayers = "most of the time is gRPC's own, its goroutines' and HTTP/2's, over either transport: calls and messages of the node itself do without"

func peerTripReason(p Pair, x station.Exchange) string {
	if p.Ours == grpcTIPC && x.Size <= mtu {
		return whyLayers
	}
	return latencyReason(p, x)
}

func peerFlowReason(p Pair, x station.Exchange) string {
	switch {
	case p.Ours == grpcTIPC && x.Size <= mtu:
		return whyLayers
	case x.Size < 1000:
		return fmt.Sprintf("%s gathers small messages until it writes, and says nothing of who waits meanwhile", p.Theirs)
	}
	return throughputReason(p, x)
}
