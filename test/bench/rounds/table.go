// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"context"
	"io"
	"regexp"
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// A Table is rows, and the sets they are of.
type Table struct {
	Name  string // utipc-lab bench NAME
	Title string
	Rows  []Comparison
	Sets  []Set
	More  []Single // the last rows
}

// A Set is variants of a Table that take turns.
type Set struct {
	Name     string
	Variants []station.Variant
	Times    int // how many times as long as others it is measured; 0: once
	// Twice names the variant whose end 0 offers twice the rate that was delivered at
	// another in the same round, and that other.
	Twice [2]string
	// Profiled are variants that have CPU profiles made of them when they are asked for.
	Profiled []string
}

// A Single is a row that is one figure, measured in this process.
type Single struct {
	ID      string
	What    string
	Unit    string
	Goal    sheet.Goal
	Target  float64
	Measure func(ctx context.Context, o Options) (Figure, error)
}

// A Figure is what a Single has measured.
type Figure struct {
	Value float64
	Note  string
}

func (s Single) row(ctx context.Context, o Options) sheet.Row {
	r := sheet.Row{ID: s.ID, What: s.What, Unit: s.Unit, Goal: s.Goal, Target: s.Target}
	f, err := s.Measure(ctx, o)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Value, r.Notes = f.Value, f.Note
	return r
}

// A Plan says how much is measured.
type Plan struct {
	Rounds int           `json:"rounds"`
	For    time.Duration `json:"for"` // of one measurement, warming up not counted
	// Wait is how long to wait in all for others to leave the cores alone.
	Wait time.Duration `json:"wait"`
}

// Plans of the command.
var (
	Short = Plan{Rounds: 7, For: 250 * time.Millisecond, Wait: 30 * time.Second}
	Full  = Plan{Rounds: 11, For: time.Second, Wait: 10 * time.Minute}
)

// Options say what is measured and how.
type Options struct {
	Plan    Plan
	Only    *regexp.Regexp // of rows, those to measure; nil: all
	Driver  string         // worker.Auto or another
	Nice    int            // priority of all workers, -20 (first) to 19
	Profile string         // directory for CPU profiles; empty: none
	// Program is the command that serves as a worker: it calls worker.Serve.
	Program  []string
	Progress io.Writer // what goes on, for a terminal
}

// List calls f with the name of each row and what it measures.
func (t *Table) List(f func(id, what string)) {
	for i := range t.Rows {
		f(t.Rows[i].ID, t.Rows[i].What)
	}
	for _, s := range t.More {
		f(s.ID, s.What)
	}
}

// chosen returns the rows that were asked for.
func (t *Table) chosen(only *regexp.Regexp) (rows []Comparison, singles []Single) {
	wanted := func(id, what string) bool { return only == nil || only.MatchString(id) || only.MatchString(what) }
	for _, r := range t.Rows {
		if wanted(r.ID, r.What) {
			rows = append(rows, r)
		}
	}
	for _, s := range t.More {
		if wanted(s.ID, s.What) {
			singles = append(singles, s)
		}
	}
	return rows, singles
}

// needed returns the sets that rows need, without the variants they do not.
func (t *Table) needed(rows []Comparison) (sets []Set) {
	wanted := map[string]bool{}
	for _, row := range rows {
		for _, v := range row.variants() {
			wanted[v] = true
		}
	}
	for _, s := range t.Sets {
		if wanted[s.Name+"/"+s.Twice[0]] {
			wanted[s.Name+"/"+s.Twice[1]] = true
		}
		some := s
		some.Variants = nil
		for _, v := range s.Variants {
			if wanted[s.Name+"/"+v.Name] {
				some.Variants = append(some.Variants, v)
			}
		}
		if len(some.Variants) > 0 {
			sets = append(sets, some)
		}
	}
	return sets
}
