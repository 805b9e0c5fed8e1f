// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"slices"

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
	h := outsideTable{b: b, s: &s, loads: judgedLoads, table: figure.Table{ID: "judges", Title: "Our own loads of TCP and UDP, and the judges'", Heads: []string{"", "ours", "judge's", "ratio"}}}
	defer h.limitRounds()()
	h.measure(judge.Iperf3, []Pair{{tcpBlock, judgedTCP}}, nil, some(b.Plan, []int{1 << 10, 16 << 10, 64 << 10}), Contest{Value: bits, Unit: figure.BitsPerSecond})
	h.measure(judge.Sockperf, []Pair{{tcpBlock, judgedTrip}, {udpBlock, judgedUDP}}, nil, some(b.Plan, []int{64, 1 << 10})[:1], Contest{Value: tripTime, Less: true, Unit: figure.Seconds})
	s.Tables = []figure.Table{h.table}
	return s, nil
}

// An outsideTable compares programs that others wrote: what each measures is a row, next to what ours
// does of the same in the same rounds.
type outsideTable struct {
	b     *Bench
	s     *figure.Section
	loads map[string]worker.Open // of others
	table figure.Table
}

// limitRounds limits the plan to judgedRounds until the function that it returns is called.
func (h *outsideTable) limitRounds() (end func()) {
	plan := h.b.Plan
	h.b.Plan.Rounds = min(judgedRounds, plan.Rounds)
	return func() { h.b.Plan = plan }
}

// measure adds the rows of pairs whose second subject the program measures. Of the Contest's times less is better, and they
// are of round trips; all else goes one way. ours are the subjects that package report has no name for. A
// Contest with a Section keeps its losses.
func (h *outsideTable) measure(program string, pairs []Pair, ours []Subject, all []int, c Contest) {
	if _, err := judge.Find(program); err != nil {
		h.s.Errors = append(h.s.Errors, err.Error())
		return
	}
	c.Pairs = pairs
	subjects := ours
	for _, p := range pairs {
		if loads[p.Ours].Load != "" && !slices.ContainsFunc(subjects, func(s Subject) bool { return s.Name == p.Ours }) {
			subjects = append(subjects, named(mtu, p.Ours)...)
		}
		o := h.loads[p.Theirs]
		subjects = append(subjects, Subject{Variant: station.Variant{Name: p.Theirs, MTU: mtu, Ends: [2]worker.Open{o, o}, Offloads: true}})
	}
	t := h.b.Take(h.table.ID+", "+program, subjects, exchanges(!c.Less, all, nil))
	h.s.Errors = append(h.s.Errors, t.Errors...)
	for _, sub := range subjects {
		if how := settings(t.Outcome(sub.Name).Infos); how != "" {
			h.s.Says = append(h.s.Says, sub.Name+": "+how+".")
		}
	}
	for i, x := range t.Exchanges {
		for _, p := range pairs {
			h.table.Rows = append(h.table.Rows, figure.Row{Name: p.Theirs + ", " + x.String(), Cells: []figure.Cell{
				figure.CellOf(c.Unit, t.Values(p.Ours, i, c.Value)), figure.CellOf(c.Unit, t.Values(p.Theirs, i, c.Value)),
				figure.CellOf(figure.Ratio, t.ratios(p, i, c.Value, c.Less)),
			}})
		}
	}
	if c.Section != "" {
		h.b.Ratios(t, c, sizes(!c.Less, false), "cores idle")
	}
}
