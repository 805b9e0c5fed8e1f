// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sample = Rows{
	{What: "as fast as it must be", Value: 100, Unit: "ns", Goal: AtMost, Target: 120, Notes: "a note"},
	{What: "too slow", Value: 120.5, Unit: "ns", Goal: AtMost, Target: 120},
	{What: "enough", Value: 0.6, Goal: AtLeast, Target: 0.6},
	{What: "too little", Value: 0.59, Goal: AtLeast, Target: 0.6},
	{What: "only printed", Value: 12.34, Unit: "MB/s"},
	{What: "large", Value: 1234567, Unit: "ns", Goal: AtMost, Target: 10_000},
	{What: "broken", Value: 7, Unit: "ms", Goal: AtMost, Target: 50, Error: "no\nluck"},
	{What: "broken, without a target", Error: "no luck"},
}

// A row that misses its target says so, one that could not be measured too, with the
// reason; the last line counts those with a target.
func TestTable(t *testing.T) {
	var b strings.Builder
	sample.Write(&b)
	got := b.String()
	want := `what                           value       target  
as fast as it must be         100 ns    <= 120 ns  ok
    a note
too slow                    120.5 ns    <= 120 ns  MISS
enough                           0.6       >= 0.6  ok
too little                      0.59       >= 0.6  MISS
only printed              12.34 MB/s            -  -
large                     1234567 ns  <= 10000 ns  MISS
broken                             -   <= 50.0 ms  MISS
    error: no; luck
broken, without a target           -            -  MISS
    error: no luck
2 of 7 targets met
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	sample.Markdown(&b)
	for _, want := range []string{
		"| what | value | target | | notes |\n|---|---:|---:|---|---|\n| as fast as it must be | 100 ns | <= 120 ns | ok | a note |\n",
		"\n| broken | - | <= 50.0 ms | MISS | error: no; luck |\n", "\n\n2 of 7 targets met\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant in it\n%s", &b, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, v := range map[float64][]float64{0: nil, 3: {5, 1, 3}, 2.5: {4, 1, 2, 3}} {
		if got := Median(v); got != want {
			t.Errorf("%v: got %v, want %v", v, got, want)
		}
	}
}

// All that have no value are told.
func TestMeasured(t *testing.T) {
	if sample.Measured() || !sample[:5].Measured() || !(Rows{}).Measured() {
		t.Errorf("got %v, %v, want false, true", sample.Measured(), sample[:5].Measured())
	}
}

// Sets are chosen by name and run in order, until interrupted.
func TestSets(t *testing.T) {
	var interrupt func()
	set := func(name string, world bool) Set[int] {
		return Set[int]{name, world, func(_ context.Context, o int) []Row {
			if name == "c" {
				interrupt()
			}
			return []Row{{What: name, Value: float64(o)}}
		}}
	}
	sets := []Set[int]{set("a", true), set("b", false), set("c", false), set("bd", false)}
	if got := Names(sets); !slices.Equal(got, []string{"a", "b", "c", "bd"}) {
		t.Errorf("names: got %v", got)
	}
	for only, want := range map[string]string{"": "a b c true", "b": "b bd false", "^c$|d": "c false", "x": "nothing has such a name"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		interrupt = cancel
		chosen, world, err := Choose(sets, regexp.MustCompile(only))
		if err != nil {
			if err.Error() != want {
				t.Errorf("%q: got %v, want %v", only, err, want)
			}
			continue
		}
		var got, said strings.Builder
		for _, r := range Run(ctx, chosen, 7, &said) {
			fmt.Fprintf(&got, "%s ", r.What)
			if r.Value != 7 {
				t.Errorf("%s: got %v, want 7", r.What, r.Value)
			}
		}
		fmt.Fprint(&got, world)
		if got.String() != want || strings.ReplaceAll(said.String(), "\n", " ") != strings.TrimSuffix(strings.TrimSuffix(want, "true"), "false") {
			t.Errorf("%q: got %q, said %q, want %q", only, &got, &said, want)
		}
	}
	if chosen, _, err := Choose(sets, nil); len(chosen) != 4 || err != nil {
		t.Errorf("nil: got %d, %v, want all", len(chosen), err)
	}
}
