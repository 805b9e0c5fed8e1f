// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	writeLines(&b, []Line{
		{What: "short", Ours: "1.00 us", Beside: "10.00 us", Ratio: Spread{10, 9, 11}, Target: ">= 4", Judged: true, Met: true, Notes: "p99 2.00 us"},
		{What: "a longer one", Ours: "1.000 M/s", Beside: "2.000 M/s", Ratio: Spread{0.5, 0.4, 0.6}, Target: ">= 0.8", Judged: true},
		{What: "printed", Ours: "1 Gbit/s", Beside: "2 Gbit/s", Ratio: Spread{0.5, 0.4, 0.6}, Target: "-"},
		{What: "counted", Ours: "0.0000", Beside: "-", Target: "0", Judged: true, Met: true},
		{What: "broken", Target: ">= 1", Judged: true, Error: "two\nlines"},
		{What: "broken, printed", Target: "-", Error: "why"},
	})
	want := `
what                  ours     beside  ratio     (min..max)  target
short              1.00 us   10.00 us  10.00  (9.00..11.00)    >= 4  ok
    p99 2.00 us
a longer one     1.000 M/s  2.000 M/s   0.50   (0.40..0.60)  >= 0.8  MISS
printed           1 Gbit/s   2 Gbit/s   0.50   (0.40..0.60)       -  -
counted             0.0000          -                             0  ok
broken                   -          -                          >= 1  MISS
    error: two; lines
broken, printed          -          -                             -  MISS
    error: why
2 of 4 targets met
`
	if got := "\n" + regexp.MustCompile(`(?m) +$`).ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

// Every row names variants there are, of one set where it divides them, and no two
// have one name.
func TestRowsAndSetsAgree(t *testing.T) {
	for name, table := range map[string]Sheet{"datapath": Datapath, "crypto": Crypto, "daemon": Daemon} {
		t.Run(name, func(t *testing.T) { agree(t, table) })
	}
}

func agree(t *testing.T, table Sheet) {
	known := map[string]station.Variant{}
	for _, s := range table.Sets() {
		for _, v := range s.Variants {
			name := s.Name + "/" + v.Name
			if _, again := known[name]; again {
				t.Errorf("two variants are called %s", name)
			}
			known[name] = v
			if v.Ends[0].Load == "" || v.Size <= 0 || v.MTU <= 0 {
				t.Errorf("%s: got %+v", name, v)
			}
			if s.Twice[0] == v.Name {
				if _, ok := known[s.Name+"/"+s.Twice[1]]; !ok {
					t.Errorf("%s offers twice %q, which does not come before it", name, s.Twice[1])
				}
			}
		}
	}
	ids, used := map[string]bool{}, map[string]bool{}
	for _, r := range table.Rows() {
		if ids[r.ID] {
			t.Errorf("two rows are called %s", r.ID)
		}
		ids[r.ID] = true
		for _, name := range r.variants() {
			used[name] = true
			v, ok := known[name]
			if !ok {
				t.Errorf("row %s: there is no %s", r.ID, name)
			}
			if r.Count == nil && v.OneWay != known[r.Ours].OneWay {
				t.Errorf("row %s: one way beside round trips", r.ID)
			}
		}
		if a, _, _ := strings.Cut(r.Ours, "/"); r.Count == nil && !strings.HasPrefix(r.Beside, a+"/") {
			t.Errorf("row %s: %s and %s do not take turns", r.ID, r.Ours, r.Beside)
		}
		if oneWay := r.Metric == Messages || r.Metric == Bits; r.Count == nil && oneWay != known[r.Ours].OneWay {
			t.Errorf("row %s: its metric is not what %s measures", r.ID, r.Ours)
		}
		if (r.Target == 0) != (r.Goal == Printed || r.Count != nil) {
			t.Errorf("row %s: target %v", r.ID, r.Target)
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("no row needs %s", name)
		}
	}
}

func TestNotes(t *testing.T) {
	sent := load.Result{Count: 1000, Frames: 100, Again: 3, Resets: 1}
	o := &Outcome{Runs: []station.Run{{Round: 1, Ends: [2]load.Result{sent, {Count: 900, Elapsed: 1e9}}}}}
	o.Infos[0].Driver = "af_xdp generic"
	r := Row{Ours: "s/a", Beside: "s/b", Metric: Messages, Kept: true}
	l := r.judge(map[string]*Outcome{"s/a": o, "s/b": outcome(figure{rate: 900})})
	if want := "af_xdp generic; 1 link resets; 10.0 messages a frame; 3 packets sent again"; l.Notes != want {
		t.Errorf("got %q, want %q", l.Notes, want)
	}
}
