// SPDX-License-Identifier: Apache-2.0

package rounds

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
		row          Comparison
		ours, beside *Outcome
		ratio        float64
		rounds       int
		verdict      string
		error        string
	}{
		{"times, faster", Comparison{Metric: TripTime, Target: 2}, outcome(figure{trip: 2}), outcome(figure{trip: 5}), 2.5, 1, "ok", ""},
		{"times, slower", Comparison{Metric: TripTime, Target: 2}, outcome(figure{trip: 3}), outcome(figure{trip: 5}), 5. / 3, 1, "MISS", ""},
		{"at most", Comparison{Metric: TripTime, Goal: sheet.AtMost, Target: 1.3}, outcome(figure{trip: 12}), outcome(figure{trip: 10}), 1.2, 1, "ok", ""},
		{"more than at most", Comparison{Metric: TripTime, Goal: sheet.AtMost, Target: 1.3}, outcome(figure{trip: 14}), outcome(figure{trip: 10}), 1.4, 1, "MISS", ""},
		{"rates", Comparison{Metric: Messages, Target: 0.5}, outcome(figure{rate: 500}), outcome(figure{rate: 1000}), 0.5, 1, "ok", ""},
		{"rates, less", Comparison{Metric: Messages, Target: 0.5}, outcome(figure{rate: 499}), outcome(figure{rate: 1000}), 0.499, 1, "MISS", ""},
		{"printed", Comparison{Metric: Messages}, outcome(figure{rate: 1}), outcome(figure{rate: 1000}), 0.001, 1, "-", ""},
		{
			"median of the rounds' ratios",
			Comparison{Metric: Messages, Target: 1},
			outcome(figure{rate: 10}, figure{rate: 300}, figure{rate: 2}), outcome(figure{rate: 10}, figure{rate: 100}, figure{rate: 4}), 1, 3, "ok", "",
		},
		{
			"rounds that both have",
			Comparison{Metric: Messages, Target: 1},
			outcome(figure{rate: 1}, gone, figure{rate: 3}), outcome(figure{rate: 2}, figure{rate: 1}, figure{rate: 1}), 1.75, 2, "ok", "",
		},
		{"no round in common", Comparison{Metric: Messages}, outcome(figure{rate: 1}, gone), outcome(gone, figure{rate: 1}), 0, 0, "MISS", "no round has both"},
		{"links were reset", Comparison{Metric: Messages, Target: 1, Kept: true}, outcome(figure{rate: 2, resets: 1}), outcome(figure{rate: 1}), 2, 1, "MISS", ""},
		{"links were reset, and may be", Comparison{Metric: Messages, Target: 1}, outcome(figure{rate: 2, resets: 1}), outcome(figure{rate: 1}), 2, 1, "ok", ""},
		{
			"busy rounds",
			Comparison{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 2}, figure{rate: 1, others: 0.5}, figure{rate: 2}, figure{rate: 1}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}, figure{rate: 1}, figure{rate: 1, others: 0.5}), 2, 3, "ok", "",
		},
		{
			"mostly busy rounds",
			Comparison{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 1, others: 0.5}, figure{rate: 1, others: 0.5}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}), 1, 3, "MISS", "",
		},
		{
			"two quiet rounds of three",
			Comparison{Metric: Messages, Target: 2},
			outcome(figure{rate: 2}, figure{rate: 2}, figure{rate: 1, others: 0.5}),
			outcome(figure{rate: 1}, figure{rate: 1}, figure{rate: 1}), 2, 2, "ok", "",
		},
		{"ours failed", Comparison{Metric: Messages}, failed, outcome(figure{rate: 1}), 0, 0, "MISS", "it broke"},
		{"beside failed", Comparison{Metric: Messages}, outcome(figure{rate: 1}), failed, 0, 0, "MISS", "it broke"},
		{"never measured", Comparison{Metric: Messages}, nil, outcome(figure{rate: 1}), 0, 0, "MISS", "not measured"},
		{"not here", Comparison{Metric: Messages}, &Outcome{Error: "no cgroup", Missing: true}, outcome(figure{rate: 1}), 0, 0, "MISS", "not measurable here: no cgroup"},
	} {
		c.row.Ours, c.row.Beside = "s/ours", "s/beside"
		l := c.row.judge(map[string]*Outcome{"s/ours": c.ours, "s/beside": c.beside})
		if math.Abs(l.Value-c.ratio) > 1e-9 || l.Rounds != c.rounds || l.Verdict() != c.verdict || l.Error != c.error {
			t.Errorf("%s: got ratio %v of %d rounds, %s, %q; want %v of %d, %s, %q",
				c.name, l.Value, l.Rounds, l.Verdict(), l.Error, c.ratio, c.rounds, c.verdict, c.error)
		}
	}
}

// What bare frames reach is said, and a line does without when they fail.
func TestLimit(t *testing.T) {
	r := Comparison{Ours: "s/ours", Beside: "s/tcp", Limit: "s/bare", Metric: TripTime, Target: 4}
	all := map[string]*Outcome{"s/ours": outcome(figure{trip: 5}), "s/tcp": outcome(figure{trip: 10}), "s/bare": outcome(figure{trip: 4})}
	if l := r.judge(all); !strings.Contains(l.Notes, "bare frames reach 2.50") {
		t.Errorf("got %q, want 2.50", l.Notes)
	}
	all["s/bare"] = &Outcome{Error: "it broke"}
	if l := r.judge(all); l.Error != "" || l.Value != 2 {
		t.Errorf("without bare frames: got %+v", l)
	}
}

func TestAllocations(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	r := Comparison{Ours: "a", Also: "b", Count: Allocations}
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
		{with(9, 9, 9), with(9, 101, 101), "MISS"},
		{with(9), &Outcome{Runs: []station.Run{{Round: 1}}}, "MISS"}, // nothing counted is no proof
	} {
		if l := r.judge(map[string]*Outcome{"a": c.a, "b": c.b}); l.Verdict() != c.want {
			t.Errorf("got %+v, want %s", l, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	sent := load.Result{Count: 1000, Frames: 100, Again: 3, Resets: 1}
	o := &Outcome{Runs: []station.Run{{Round: 1, Ends: [2]load.Result{sent, {Count: 900, Elapsed: 1e9}}}}}
	o.Infos[0].Driver = "af_xdp generic"
	r := Comparison{Ours: "s/a", Beside: "s/b", Metric: Messages, Kept: true}
	l := r.judge(map[string]*Outcome{"s/a": o, "s/b": outcome(figure{rate: 900})})
	if want := "af_xdp generic; 1 link resets; 10.0 messages a frame; 3 packets sent again"; l.Notes != want {
		t.Errorf("got %q, want %q", l.Notes, want)
	}
}
