// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
//
// Proves: names.cost
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

// Ratios have what they are of beside them, and the span of the rounds.
//
// It fails if the columns of ratios are left out, or if a reason to miss the target is not heeded.
func TestRatios(t *testing.T) {
	var b strings.Builder
	Rows{
		{What: "short", Ours: "1.00 us", Beside: "10.00 us", Value: 10, Low: 9, High: 11, Goal: AtLeast, Target: 4, Notes: "p99 2.00 us"},
		{What: "a longer one", Ours: "1.000 M/s", Beside: "2.000 M/s", Value: 0.5, Low: 0.4, High: 0.6, Goal: AtLeast, Target: 0.8},
		{What: "missed", Ours: "1.000 M/s", Beside: "1.000 M/s", Value: 1, Low: 1, High: 1, Goal: AtLeast, Target: 0.8, Missed: "links were reset"},
		{What: "printed", Ours: "1 Gbit/s", Beside: "2 Gbit/s", Value: 0.5, Low: 0.4, High: 0.6},
		{What: "counted", Value: 0, Goal: AtMost, Target: 0.001},
		{What: "broken", Goal: AtLeast, Target: 1, Error: "two\nlines"},
	}.Write(&b)
	want := `
what               ours     beside  value     (min..max)    target
short           1.00 us   10.00 us  10.00  (9.00..11.00)      >= 4  ok
    p99 2.00 us
a longer one  1.000 M/s  2.000 M/s   0.50   (0.40..0.60)    >= 0.8  MISS
missed        1.000 M/s  1.000 M/s   1.00   (1.00..1.00)    >= 0.8  MISS
printed        1 Gbit/s   2 Gbit/s   0.50   (0.40..0.60)         -  -
counted                                 0                 <= 0.001  ok
broken                                  -                     >= 1  MISS
    error: two; lines
2 of 5 targets met
`
	if got := "\n" + regexp.MustCompile(`(?m) +$`).ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

// Proves: names.cost
func TestMarkdown(t *testing.T) {
	var b strings.Builder
	sample.Markdown(&b)
	for _, want := range []string{
		"| what | value | target |  | notes |\n|---|---:|---:|---|---|\n| as fast as it must be | 100 ns | <= 120 ns | ok | a note |\n",
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
//
// Proves: names.cost
func TestMeasured(t *testing.T) {
	if sample.Measured() || !sample[:5].Measured() || !(Rows{}).Measured() {
		t.Errorf("got %v, %v, want false, true", sample.Measured(), sample[:5].Measured())
	}
}

// Sets are chosen by name and run in order, until interrupted; one that cannot be measured here
// is said before any has begun.
//
// It fails if Measure goes on after its context is done, asks Ready of sets that are not chosen, or
// asks the first alone that has one.
//
// Proves: names.cost
func TestSets(t *testing.T) {
	notHere := errors.New("not here")
	var interrupt func()
	set := func(name string, ready func() error) Set[int] {
		return Set[int]{Name: name, Ready: ready, Measure: func(_ context.Context, o int) []Row {
			if name == "c" {
				interrupt()
			}
			return []Row{{What: name, Value: float64(o)}}
		}}
	}
	refuses, allows := func() error { return notHere }, func() error { return nil }
	sets := []Set[int]{set("a", refuses), set("b", nil), set("c", nil), set("bd", nil), set("e", allows), set("f", refuses)}
	for only, want := range map[string]struct {
		rows string
		err  error
	}{"": {"", notHere}, "b": {"b bd ", nil}, "^c$|d": {"c ", context.Canceled}, "e": {"e ", nil}, "e|f": {"", notHere}, "x": {"", ErrNone}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		interrupt = cancel
		var got, said strings.Builder
		r := &Report{}
		if err := Measure(ctx, r, sets, regexp.MustCompile(only), 7, &said); !errors.Is(err, want.err) {
			t.Errorf("%q: got %v, want %v", only, err, want.err)
		}
		for _, r := range r.Rows {
			fmt.Fprintf(&got, "%s ", r.What)
			if r.Value != 7 {
				t.Errorf("%s: got %v, want 7", r.What, r.Value)
			}
		}
		if got.String() != want.rows || strings.ReplaceAll(said.String(), "\n", " ") != want.rows {
			t.Errorf("%q: got %q, said %q, want %q", only, &got, &said, want.rows)
		}
	}
}
