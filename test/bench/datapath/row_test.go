// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/tier"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		before := append([]float64(nil), c.v...)
		if got := sheet.Median(c.v); got != c.want {
			t.Errorf("%v: got %v, want %v", c.v, got, c.want)
		}
		for i := range before {
			if c.v[i] != before[i] {
				t.Errorf("median changed %v to %v", before, c.v)
			}
		}
	}
	if got, want := spreadOf([]float64{2, 1, 4}), (Spread{2, 1, 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A figure is one of a variant in a round: the round trip in microseconds, and the
// messages received in a second.
type figure struct {
	trip, rate, others float64
	resets             uint64
}

func outcome(figures ...figure) *Outcome {
	o := &Outcome{}
	for i, f := range figures {
		if math.IsNaN(f.trip) {
			continue // this round is missing
		}
		r := station.Run{Round: i + 1, Others: f.others}
		r.Ends[0].P50 = time.Duration(f.trip * 1e3)
		r.Ends[1].Count, r.Ends[1].Elapsed = uint64(f.rate), time.Second
		r.Ends[1].Resets = f.resets
		o.Runs = append(o.Runs, r)
	}
	return o
}

func TestJudge(t *testing.T) {
	gone := figure{trip: math.NaN()}
	failed := &Outcome{Error: "it broke"}
	for _, c := range []struct {
		name         string
		row          Row
		ours, beside *Outcome
		ratio        float64
		rounds       int
		verdict      string
		error        string
	}{
		{"times, faster", Row{Metric: TripTime, Target: 2}, outcome(figure{trip: 2}), outcome(figure{trip: 5}), 2.5, 1, "ok", ""},
		{"times, slower", Row{Metric: TripTime, Target: 2}, outcome(figure{trip: 3}), outcome(figure{trip: 5}), 5. / 3, 1, "MISS", ""},
		{"at most", Row{Metric: TripTime, Goal: AtMost, Target: 1.3}, outcome(figure{trip: 12}), outcome(figure{trip: 10}), 1.2, 1, "ok", ""},
		{"more than at most", Row{Metric: TripTime, Goal: AtMost, Target: 1.3}, outcome(figure{trip: 14}), outcome(figure{trip: 10}), 1.4, 1, "MISS", ""},
		{"rates", Row{Metric: Messages, Target: 0.5}, outcome(figure{rate: 500}), outcome(figure{rate: 1000}), 0.5, 1, "ok", ""},
		{"rates, less", Row{Metric: Messages, Target: 0.5}, outcome(figure{rate: 499}), outcome(figure{rate: 1000}), 0.499, 1, "MISS", ""},
		{"printed", Row{Metric: Messages, Goal: Printed}, outcome(figure{rate: 1}), outcome(figure{rate: 1000}), 0.001, 1, "-", ""},
		{
			"median of the rounds' ratios",
			Row{Metric: Messages, Target: 1},
			outcome(figure{rate: 10}, figure{rate: 300}, figure{rate: 2}), outcome(figure{rate: 10}, figure{rate: 100}, figure{rate: 4}), 1, 3, "ok", "",
		},
		{
			"rounds that both have",
			Row{Metric: Messages, Target: 1},
			outcome(figure{rate: 1}, gone, figure{rate: 3}), outcome(figure{rate: 2}, figure{rate: 1}, figure{rate: 1}), 1.75, 2, "ok", "",
		},
		{"no round in common", Row{Metric: Messages}, outcome(figure{rate: 1}, gone), outcome(gone, figure{rate: 1}), 0, 0, "MISS", "no round has both"},
		{"links were reset", Row{Metric: Messages, Target: 1, Kept: true}, outcome(figure{rate: 2, resets: 1}), outcome(figure{rate: 1}), 2, 1, "MISS", ""},
		{"links were reset, and may be", Row{Metric: Messages, Target: 1}, outcome(figure{rate: 2, resets: 1}), outcome(figure{rate: 1}), 2, 1, "ok", ""},
		{
			"busy rounds",
			Row{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 2}, figure{rate: 1, others: 0.5}, figure{rate: 2}, figure{rate: 1}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}, figure{rate: 1}, figure{rate: 1, others: 0.5}), 2, 3, "ok", "",
		},
		{
			"mostly busy rounds",
			Row{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 1, others: 0.5}, figure{rate: 1, others: 0.5}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}), 1, 3, "MISS", "",
		},
		{
			"too few quiet rounds",
			Row{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 2}, figure{rate: 1, others: 0.5}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}), 2, 3, "ok", "",
		},
		{"ours failed", Row{Metric: Messages}, failed, outcome(figure{rate: 1}), 0, 0, "MISS", "it broke"},
		{"beside failed", Row{Metric: Messages, Goal: Printed}, outcome(figure{rate: 1}), failed, 0, 0, "MISS", "it broke"},
		{"never measured", Row{Metric: Messages}, nil, outcome(figure{rate: 1}), 0, 0, "MISS", "not measured"},
		{"not here", Row{Metric: Messages}, &Outcome{Error: "no cgroup", Missing: true}, outcome(figure{rate: 1}), 0, 0, "MISS", "not measurable here: no cgroup"},
	} {
		c.row.Ours, c.row.Beside = "s/ours", "s/beside"
		l := c.row.judge(map[string]*Outcome{"s/ours": c.ours, "s/beside": c.beside})
		if math.Abs(l.Ratio.Median-c.ratio) > 1e-9 || l.Rounds != c.rounds || l.Verdict() != c.verdict || l.Error != c.error {
			t.Errorf("%s: got ratio %v of %d rounds, %s, %q; want %v of %d, %s, %q",
				c.name, l.Ratio.Median, l.Rounds, l.Verdict(), l.Error, c.ratio, c.rounds, c.verdict, c.error)
		}
	}
}

// What bare frames reach is said, and a line does without when they fail.
func TestLimit(t *testing.T) {
	r := Row{Ours: "s/ours", Beside: "s/tcp", Limit: "s/bare", Metric: TripTime, Target: 4}
	all := map[string]*Outcome{"s/ours": outcome(figure{trip: 5}), "s/tcp": outcome(figure{trip: 10}), "s/bare": outcome(figure{trip: 4})}
	if l := r.judge(all); l.Limit.Median != 2.5 || !strings.Contains(l.Notes, "bare frames reach 2.50") {
		t.Errorf("got %v, %q, want 2.5", l.Limit, l.Notes)
	}
	all["s/bare"] = &Outcome{Error: "it broke"}
	if l := r.judge(all); l.Error != "" || l.Ratio.Median != 2 {
		t.Errorf("without bare frames: got %+v", l)
	}
}

func TestAllocations(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	r := Row{Ours: "a", Also: "b", Count: allocations}
	with := func(mallocs ...uint64) *Outcome {
		o := &Outcome{}
		for _, n := range mallocs {
			x := station.Run{Round: len(o.Runs) + 1}
			x.Ends[0] = load.Result{Messages: 100000, Mallocs: 5}
			x.Ends[1] = load.Result{Messages: 100000, Mallocs: n}
			o.Runs = append(o.Runs, x)
		}
		return o
	}
	for _, c := range []struct {
		a, b *Outcome
		want string
	}{
		{with(9, 5000, 9), with(9, 9, 9), "ok"},
		{with(9, 5000, 5000), with(9, 9, 9), "MISS"},
		{with(9, 9, 9), with(9, 100, 100), "MISS"},
		{with(9), &Outcome{Runs: []station.Run{{Round: 1}}}, "MISS"}, // nothing counted is no proof
	} {
		if l := r.judge(map[string]*Outcome{"a": c.a, "b": c.b}); l.Verdict() != c.want {
			t.Errorf("got %+v, want %s", l, c.want)
		}
	}
}
