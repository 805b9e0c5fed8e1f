// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"slices"
	"time"
)

// A Size says how much to simulate.
type Size struct {
	Peers   int
	Seed    uint64
	Rounds  int
	Engines []int // of the node, the first 1
	Clock   func() time.Duration
	Repeats int // of each run: the least time of each engine counts
}

// Short is a small part of Full.
var (
	Short = Size{Peers: 63, Seed: 1, Rounds: 10, Engines: []int{1, 2, 4, 8, 16, 32, 64}, Repeats: 1}
	Full  = Size{Peers: 63, Seed: 1, Rounds: 50, Engines: []int{1, 2, 4, 8, 16, 32, 64}, Repeats: 7}
)

// A Load is a kind of traffic, and how peers are dealt to engines.
type Load struct {
	Name          string
	Skewed, Turns bool
}

// Loads are all of them.
var Loads = []Load{
	{"even, by hash", false, false},
	{"even, in turn", false, true},
	{"skewed, by hash", true, false},
	{"skewed, in turn", true, true},
}

// A Table is what came of all runs of a size: for each of Loads a report for each number of engines.
type Table struct {
	Size    Size
	Reports [][]Report
}

// Run makes the table.
func (s Size) Run() (t Table) {
	t.Size = s
	for _, l := range Loads {
		var row []Report
		for _, k := range s.Engines {
			c := Config{Peers: s.Peers, Engines: k, Seed: s.Seed, Rounds: s.Rounds, Skewed: l.Skewed, Turns: l.Turns, Clock: s.Clock}
			r := c.Run()
			for range s.Repeats - 1 {
				r.least(c.Run())
			}
			row = append(row, r)
		}
		t.Reports = append(t.Reports, row)
	}
	return t
}

// Cells are the rows of the table, heads first.
func (t *Table) Cells() [][]string {
	all := [][]string{{"load", "engines", "most peers", "units", "of the busiest", "of the directory", "common", "bound"}}
	if t.Size.Clock != nil {
		all[0] = append(all[0], "time", "of the busiest", "of the directory", "common", "bound")
	}
	for i, row := range t.Reports {
		for k := range row {
			r := &row[k]
			g := r.Units(&row[0])
			line := []string{
				Loads[i].Name, fmt.Sprint(r.Config.Engines), fmt.Sprint(r.Most),
				fmt.Sprintf("%.0f", g.Total), fmt.Sprintf("%.0f", g.Largest), fmt.Sprintf("%.0f", g.Shared), fmt.Sprintf("%.1f %%", 100*g.Common), fmt.Sprintf("%.1f", g.Bound),
			}
			if t.Size.Clock != nil {
				g := r.Times(&row[0])
				line = append(line, fmt.Sprintf("%.1f ms", 1000*g.Total), fmt.Sprintf("%.1f ms", 1000*g.Largest), fmt.Sprintf("%.1f ms", 1000*g.Shared), fmt.Sprintf("%.1f %%", 100*g.Common), fmt.Sprintf("%.1f", g.Bound))
			}
			all = append(all, line)
		}
	}
	return all
}

// Findings are what did not hold, of all runs.
func (t *Table) Findings() (all []string) {
	for _, row := range t.Reports {
		for i := range row {
			all = slices.Concat(all, row[i].Findings)
			if more := row[i].Violations - len(row[i].Findings); more > 0 {
				all = append(all, fmt.Sprintf("%d engines: and %d more", row[i].Config.Engines, more))
			}
		}
	}
	return all
}

// Traffic says in words what the runs of one load have in common.
func (r *Report) Traffic() string {
	return fmt.Sprintf("%d peers, %d rounds: %d messages read (datagrams %d, multicasts %d, on connections %d), %d changes of names, %d dials, %v of virtual time",
		r.Config.Peers, r.Config.Rounds, r.Read, r.Sent[down]+r.Sent[up], r.Sent[castDown]+r.Sent[castUp], r.Sent[connDown]+r.Sent[connUp], r.Names, r.Dials,
		r.Simulated.Round(time.Millisecond))
}
