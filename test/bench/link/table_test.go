// SPDX-License-Identifier: Apache-2.0

package link

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
)

var sample = Report{
	Machine: "a machine", Plan: Plan{Rounds: 3, For: time.Second, Failovers: 2, Flow: 10}, Took: 5 * time.Second,
	Rows: []Row{
		{What: "as fast as it must be", Value: 100, Unit: "ns", Goal: AtMost, Target: 120, Notes: "a note"},
		{What: "too slow", Value: 120.5, Unit: "ns", Goal: AtMost, Target: 120},
		{What: "enough", Value: 0.6, Goal: AtLeast, Target: 0.6},
		{What: "too little", Value: 0.59, Goal: AtLeast, Target: 0.6},
		{What: "only printed", Value: 12.34, Unit: "MB/s"},
		{What: "broken", Value: 7, Unit: "ms", Goal: AtMost, Target: 50, Error: "no\nluck"},
		{What: "broken, without a target", Error: "no luck"},
	},
}

// A row that misses its target says so, one that could not be measured too, with the
// reason; the last line counts those with a target.
func TestTable(t *testing.T) {
	var b strings.Builder
	sample.Write(&b)
	_, got, _ := strings.Cut(b.String(), "\n\n")
	want := `what                           value      target  
as fast as it must be         100 ns   <= 120 ns  ok
    a note
too slow                    120.5 ns   <= 120 ns  MISS
enough                           0.6      >= 0.6  ok
too little                      0.59      >= 0.6  MISS
only printed              12.34 MB/s           -  -
broken                             -  <= 50.0 ms  MISS
    error: no; luck
broken, without a target           -           -  MISS
    error: no luck
2 of 6 targets met
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	sample.Markdown(&b)
	for _, want := range []string{
		"\n| what | value | target | | notes |\n|---|---:|---:|---|---|\n| as fast as it must be | 100 ns | <= 120 ns | ok | a note |\n",
		"\n| broken | - | <= 50.0 ms | MISS | error: no; luck |\n", "\n\n2 of 6 targets met\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant in it\n%s", &b, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, v := range map[float64][]float64{0: nil, 3: {5, 1, 3}, 2.5: {4, 1, 2, 3}} {
		if got := sheet.Median(v); got != want {
			t.Errorf("%v: got %v, want %v", v, got, want)
		}
	}
}

// What is measured of the core passes messages, whole, without allocating.
func TestCore(t *testing.T) {
	for _, hold := range []bool{false, true} {
		c, err := measureCore(500, hold)
		if err != nil || c.send <= 0 || c.receive <= 0 || c.bestSend > c.send || c.loop <= 0 {
			t.Errorf("hold %v: got %+v, %v", hold, c, err)
		}
		if c.allocs > 0.01 { // of 16000 messages; the run time has its own
			t.Errorf("hold %v: %v allocations a message", hold, c.allocs)
		}
	}
}
