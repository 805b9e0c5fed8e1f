// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"fmt"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var local = Kind{
	Name: "local", Title: "Within one host",
	How: `Messages that never see a cable. Two sockets of one node in one process: RDM messages, a connection of packets, a stream, and calls that an active port answers. Two programs that are attached to one daemon, so that each message goes through a third process. Beside them what people use for this: pipes, UNIX sockets, TCP over the loopback interface; and two of Go's channels, which is the least that two goroutines need.

On one core all ends sleep: what is in one process changes goroutines, and what is in two changes processes, which the kernel does; a daemon is a third process on that core. With a core each, both ends spin. Two programs of a daemon would need a third core to do so: in their place there is one that writes to itself, through the daemon on the other core, as many changes of core as between two programs without one. Pipes hold a mebibyte and the buffers of UNIX sockets four, of which none is the default; TCP has NODELAY and cubic.`,
	Ends: true, Measure: measureLocal,
}

// localSizes are those of messages, in bytes.
var localSizes = []int{64, 1 << 10, 16 << 10, 64 << 10}

// Subjects of local that are compared.
const (
	localRDM      = "RDM, one process"
	localPacket   = "SEQPACKET, one process"
	localStream   = "STREAM, one process"
	localAttached = "programs of a daemon"
	localRing     = "programs of a daemon, rings"
	localBack     = "program, daemon and back, ring"
	localTCP      = "TCP, loopback"
	localGoTCP    = "Go net TCP, loopback"
	localUnix     = "UNIX stream"
)

// asleep are subjects that share a core and sleep.
func localAsleep() []Subject {
	within := func(name, socket string) Subject {
		return localSubject(name, true, worker.Open{Load: worker.Local, Socket: socket, Wait: "sleep"})
	}
	call := within("call to an active port, one process", "call")
	call.Trips = true
	all := []Subject{
		within(localRDM, "rdm"), within(localPacket, "tipcpacket"), within(localStream, "tipc"), call,
		localSubject(localAttached, true, worker.Open{Load: worker.Attached, Wait: "sleep"}),
		localSubject(localRing, true, worker.Open{Load: worker.Attached, Socket: "ring", Wait: "sleep"}),
		localSubject(localTCP, false, worker.Open{Load: worker.TCP, Wait: "block"}),
		localSubject(localGoTCP, false, worker.Open{Load: worker.TCP, Wait: "gonet"}),
		localSubject(localUnix, false, worker.Open{Load: worker.Unix, Socket: "stream", Wait: "block"}),
		localSubject("UNIX datagrams", false, worker.Open{Load: worker.Unix, Socket: "datagram", Wait: "block"}),
		localSubject("pipes", false, worker.Open{Load: worker.Pipe, Wait: "block"}),
		localSubject("channels, one process", false, worker.Open{Load: worker.Local, Socket: "channel"}),
	}
	for i := range all {
		all[i].OneCore = true
	}
	return all
}

// localSpinning are subjects with a core each.
func localSpinning() []Subject {
	back := localSubject(localBack, true, worker.Open{Load: worker.Attached, Socket: "ring", Wait: "spin"})
	back.Ends[1] = worker.Open{Load: worker.Daemon, Wait: "sleep"}
	back.Joined, back.Trips = false, true
	return []Subject{
		back,
		localSubject(localTCP, false, worker.Open{Load: worker.TCP, Wait: "spin"}),
		localSubject(localUnix, false, worker.Open{Load: worker.Unix, Socket: "stream", Wait: "spin"}),
		localSubject("pipes", false, worker.Open{Load: worker.Pipe, Wait: "spin"}),
	}
}

// localSubject is a subject of one host.
func localSubject(name string, ours bool, o worker.Open) Subject {
	return Subject{Ours: ours, Largest: frame.MaxPayload, Variant: station.Variant{
		Name: name, MTU: 1500, Ends: [2]worker.Open{o, o}, Offloads: true, OneHost: true, Joined: o.Load == worker.Attached,
	}}
}

// localPairs are what is compared: what sleeps with what sleeps, what spins with what spins.
var localPairs = [2][]Pair{
	{{localRDM, localTCP}, {localPacket, localTCP}, {localStream, localTCP}, {localAttached, localTCP}, {localAttached, localUnix}, {localRing, localTCP}},
	{{localBack, localTCP}, {localBack, localUnix}},
}

func measureLocal(b *Bench) (s figure.Section, err error) {
	var exchanges []station.Exchange
	for _, size := range some(b.Plan, localSizes) {
		exchanges = append(exchanges, station.Exchange{Size: size}, station.Exchange{Size: size, OneWay: true})
	}
	for i, c := range []struct {
		id, where string
		subjects  []Subject
	}{{"asleep", "on one core, asleep", localAsleep()}, {"spinning", "a core each, spinning", localSpinning()}} {
		t := b.Take("local, "+c.where, c.subjects, exchanges)
		s.Errors = append(s.Errors, t.Errors...)
		times := figure.Axis{Label: "times as good", Unit: figure.Ratio, Log: true}
		trips := Contest{Section: "local", What: "round trip within a host", Value: tripTime, Less: true, Unit: figure.Seconds, Pairs: localPairs[i], Reason: localReason}
		rates := Contest{Section: "local", What: "throughput within a host", Value: bits, Unit: figure.BitsPerSecond, Pairs: localPairs[i], Reason: localReason}
		s.Figures = append(s.Figures,
			figure.Figure{
				ID: "local-trip-" + c.id, Title: "Round trip within a host, " + c.where, X: sizeAxis,
				Y: figure.Axis{Label: "round trip", Unit: figure.Seconds, Log: true}, Series: t.All(sizes(false, false), tripTime),
			},
			figure.Figure{
				ID: "local-rate-" + c.id, Title: "Throughput within a host, " + c.where, X: sizeAxis,
				Y: figure.Axis{Label: "payload", Unit: figure.BitsPerSecond, Log: true}, Series: t.All(sizes(true, false), bits),
			})
		for _, f := range []figure.Figure{
			{ID: "local-ratio-trip-" + c.id, Title: "Round trip, other : ours, " + c.where, Series: b.Ratios(t, trips, sizes(false, false), c.where)},
			{ID: "local-ratio-rate-" + c.id, Title: "Throughput, ours : other, " + c.where, Series: b.Ratios(t, rates, sizes(true, false), c.where)},
		} {
			if f.X, f.Y = sizeAxis, times; len(f.Series) > 0 {
				s.Figures = append(s.Figures, f)
			}
		}
		s.Tables = append(s.Tables, localTable(t, c.id, c.where))
	}
	return s, nil
}

// localTable has a row for each subject, and of the shortest and the longest message a
// round trip and what goes one way.
func localTable(t *Take, id, where string) figure.Table {
	table := figure.Table{ID: "local-" + id, Title: "Within a host, " + where, Heads: []string{"by"}}
	ends := []int{0, 1, len(t.Exchanges) - 2, len(t.Exchanges) - 1}
	for _, i := range ends {
		what := "round trip"
		if t.Exchanges[i].OneWay {
			what = "one way"
		}
		table.Heads = append(table.Heads, fmt.Sprintf("%s %s", figure.Bytes.Text(float64(t.Exchanges[i].Size)), what))
	}
	for _, s := range t.Subjects {
		r := figure.Row{Name: s.Name, Ours: s.Ours}
		for _, i := range ends {
			if t.Exchanges[i].OneWay {
				r.Cells = append(r.Cells, figure.CellOf(figure.PerSecond, t.Values(s.Name, i, messages)))
			} else {
				r.Cells = append(r.Cells, figure.CellOf(figure.Seconds, t.Values(s.Name, i, tripTime)))
			}
		}
		if !slices.ContainsFunc(r.Cells, func(c figure.Cell) bool { return c.Word == "" }) {
			r.Note = "could not be measured"
		}
		table.Rows = append(table.Rows, r)
	}
	return table
}

// localReason says why another way is better within a host.
func localReason(p Pair, _ station.Exchange) string {
	switch p.Ours {
	case localAttached, localRing, localBack:
		return "each message goes through the daemon, a third process: two changes of process where the other has one, and two copies more. Rings between the programs of one daemon would take it out of the way"
	case localRDM:
		return "messages without a connection have no flow control within a node: what comes while the receiver's queue is full is refused, and on one core the sender goes on until the scheduler takes it off. A connection waits for its reader"
	}
	return "both ends take the node's lock for each message, and copy it into its memory and out of it; the kernel's copy is the same, and its change of process dearer, unless many messages go by between two"
}
