// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/load/judge"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

var judges = Kind{
	Name: "judges", Title: "Do others measure the same? TCP and UDP by iperf3 and sockperf", Ends: true, Measure: measureJudges,
	How: `Programs that others wrote and trust measure TCP and UDP on the same cable, in the same rounds as this
project's own loads. The ratio is ours / judge's of throughput, and judge's / ours of a round trip: 1 where they
agree. Where they do not, something is wrong with one of them, and with what this report says of TCP.

Both ends block, one core each, MTU 1500, cubic, NODELAY, offloads on. sockperf takes the time of a
round trip by the processor's own counter, ours by the kernel's clock; iperf3 looks at a clock and at select(2)
between writes, which costs it some of the small ones. They measure for a second, however long others are
measured, in at most three rounds.`,
}

// Names of what the judges measure.
const (
	judgedTCP  = "iperf3, TCP"
	judgedTrip = "sockperf, TCP"
	judgedUDP  = "sockperf, UDP"
)

var judgedLoads = map[string]worker.Open{
	judgedTCP:  {Load: worker.Iperf3},
	judgedTrip: {Load: worker.Sockperf, Socket: "tcp"},
	judgedUDP:  {Load: worker.Sockperf, Socket: "udp"},
}

// judgedRounds is the rounds in which judges are heard, at most.
const judgedRounds = 3

func measureJudges(b *Bench) (s figure.Section, err error) {
	plan := b.Plan
	b.Plan.Rounds = min(judgedRounds, plan.Rounds)
	defer func() { b.Plan = plan }()
	table := figure.Table{ID: "judges", Title: "Our own loads of TCP and UDP, and the judges'", Heads: []string{"", "ours", "judge's", "ratio"}}
	judged := func(name string) []Subject {
		o := judgedLoads[name]
		return []Subject{{Variant: station.Variant{Name: name, MTU: mtu, Ends: [2]worker.Open{o, o}, Offloads: true}}}
	}
	hear := func(program string, pairs []Pair, sizes []int, oneWay bool, value Value, unit figure.Unit) {
		if _, err := judge.Find(program); err != nil {
			s.Errors = append(s.Errors, err.Error())
			return
		}
		var subjects []Subject
		for _, p := range pairs {
			subjects = append(append(subjects, named(mtu, p.Ours)...), judged(p.Theirs)...)
		}
		t := b.Take("judges, "+program, subjects, exchanges(oneWay, sizes, nil))
		s.Errors = append(s.Errors, t.Errors...)
		for _, sub := range subjects {
			if how := settings(t.Outcome(sub.Name).Infos); how != "" {
				s.Says = append(s.Says, sub.Name+": "+how+".")
			}
		}
		for i, x := range t.Exchanges {
			for _, p := range pairs {
				table.Rows = append(table.Rows, figure.Row{Name: p.Theirs + ", " + x.String(), Cells: []figure.Cell{
					figure.CellOf(unit, t.Values(p.Ours, i, value)), figure.CellOf(unit, t.Values(p.Theirs, i, value)),
					figure.CellOf(figure.Ratio, t.ratios(p, i, value, !oneWay)),
				}})
			}
		}
	}
	hear(judge.Iperf3, []Pair{{tcpBlock, judgedTCP}}, some(b.Plan, []int{1 << 10, 16 << 10, 64 << 10}), true, bits, figure.BitsPerSecond)
	hear(judge.Sockperf, []Pair{{tcpBlock, judgedTrip}, {udpBlock, judgedUDP}}, some(b.Plan, []int{64, 1 << 10})[:1], false, tripTime, figure.Seconds)
	s.Tables = []figure.Table{table}
	return s, nil
}
