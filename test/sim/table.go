// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"runtime"
	"sync"
	"time"
)

// A Size says how much is simulated for the tables.
type Size struct {
	First    uint64        // the first seed; 0: 1
	Seeds    int           // clusters of each row
	Duration time.Duration // of each, with faults
	Flow     int           // messages of each row's flow
	Goodput  int           // messages of each flow of the table of goodput
}

// Sizes of the tables.
var (
	Short = Size{Seeds: 2, Duration: 8 * time.Second, Flow: 200_000, Goodput: 100_000}
	Full  = Size{Seeds: 10, Duration: 12 * time.Second, Flow: 1_000_000, Goodput: 1_000_000}
)

// A Result is what a row came to.
type Result struct {
	Row
	Clusters Report
	Flow     FlowReport
	Goodput  float64 // beside no faults in as many networks
}

// Violations is how often something did not hold that always must, and in rows in
// which no link may go down how often one did.
func (r *Result) Violations() int {
	n := len(r.Clusters.Violations) + r.Flow.Violations()
	if r.NoReset {
		n += int(r.Clusters.Resets) - int(r.Clusters.Left) + r.Flow.Resets
	}
	return n
}

// A GoodputResult is what a line of the table of goodput came to.
type GoodputResult struct {
	Measure
	Flows  [len(Windows)]FlowReport
	Beside [len(Windows)]float64 // no loss
}

// Missed reports whether a target was missed.
func (g *GoodputResult) Missed(window int) bool {
	return g.Targets[window] > 0 && g.Beside[window] < g.Targets[window]
}

// parallel does n things, as many at a time as there are processors.
func parallel(n int, do func(i int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}

// Table runs the rows.
func (s Size) Table(rows []Row) []Result {
	results := make([]Result, len(rows))
	var mu sync.Mutex
	parallel(len(rows)*(s.Seeds+1), func(i int) {
		r := &results[i/(s.Seeds+1)]
		row, k := rows[i/(s.Seeds+1)], i%(s.Seeds+1)
		if k == s.Seeds {
			r.Row = row
			r.Flow = Flow{Seed: s.first(), Networks: row.Networks, Messages: s.Flow, Faults: row.Faults}.Run()
			return
		}
		f := row.Faults
		o := Run(Config{Seed: s.first() + uint64(k), Nodes: 3, Networks: row.Networks, Duration: s.Duration, Faults: &f})
		mu.Lock()
		defer mu.Unlock()
		r.Clusters.Add(o)
	})
	best := map[int]float64{}
	for i := range results {
		if r := &results[i]; best[r.Networks] == 0 {
			best[r.Networks] = r.Flow.Goodput() // the first row of as many networks has no faults
		}
	}
	for i := range results {
		r := &results[i]
		r.Goodput = r.Flow.Goodput() / best[r.Networks]
	}
	return results
}

// TableOfGoodput runs the flows of the table of goodput.
func (s Size) TableOfGoodput() []GoodputResult {
	results := make([]GoodputResult, len(Measures))
	parallel(len(Measures)*len(Windows), func(i int) {
		m, k := Measures[i/len(Windows)], i%len(Windows)
		w := Windows[k]
		f := Flow{Seed: s.first(), Messages: s.Goodput, NoBlocks: w.NoBlocks}
		f.Faults.Window, f.Faults.MaxWindow = w.Least, w.Most
		f.Faults.Everywhere(NetworkFaults{Loss: m.Loss, Wire: Gigabit})
		results[i/len(Windows)].Flows[k] = f.Run()
	})
	for i := range results {
		g := &results[i]
		g.Measure = Measures[i]
		for k := range g.Flows {
			g.Beside[k] = g.Flows[k].Goodput() / results[0].Flows[k].Goodput()
		}
	}
	return results
}

func (s Size) first() uint64 { return max(s.First, 1) }
