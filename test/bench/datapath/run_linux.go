// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/bed"
)

// Options say what is measured and how.
type Options struct {
	Sheet   Sheet
	Plan    Plan
	Rows    *regexp.Regexp // of those to measure; nil: all
	Driver  string         // worker.Auto or another
	Nice    int            // priority of all workers, -20 (first) to 19
	Profile string         // directory for CPU profiles; empty: none
	// Program is the command that serves as a worker: it calls worker.Serve.
	Program  []string
	Progress io.Writer // what goes on, for a terminal
}

// A Report is all that a run has found.
type Report struct {
	Machine  Machine       `json:"machine"`
	Plan     Plan          `json:"plan"`
	Nice     int           `json:"nice"`
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took"`
	Others   float64       `json:"others"` // share of all cores that others used
	Lines    []Line        `json:"lines"`
	Outcomes []*Outcome    `json:"outcomes"`
}

// A runner measures.
type runner struct {
	Options
	ctx   context.Context
	cores [2]int
	open  []*station
	wait  time.Duration // left of Plan.Wait
	// serial is the number of the latest measurement.
	serial uint32
}

// Measure measures and judges the rows. Interrupted, it reports what it has, with
// ctx's error. Nothing is left behind: no process, no namespace, no interface.
func Measure(ctx context.Context, o Options) (*Report, error) {
	r := &runner{Options: o, ctx: ctx, wait: o.Plan.Wait}
	var err error
	if r.cores, err = firstCores(); err != nil {
		return nil, err
	}
	rows, singles := r.rows()
	if len(rows)+len(singles) == 0 {
		return nil, errors.New("no row has such a name")
	}
	n, err := bed.NewNamespace() // so that a missing right is said once, and at once
	if err != nil {
		return nil, err
	}
	n.Close()
	report := &Report{Nice: o.Nice, Machine: ThisMachine(r.cores), Plan: o.Plan, Began: time.Now()}
	before := readUsage(nil)
	outcomes := map[string]*Outcome{}
	for _, s := range r.sets(rows) {
		if ctx.Err() != nil {
			break
		}
		for _, out := range r.measure(s) {
			outcomes[out.Set+"/"+out.Variant] = out
			report.Outcomes = append(report.Outcomes, out)
		}
	}
	report.Took, report.Others = time.Since(report.Began), readUsage(nil).others(before)
	for _, row := range rows {
		report.Lines = append(report.Lines, row.judge(outcomes))
	}
	for _, s := range singles {
		r.say("%s", s.What)
		report.Lines = append(report.Lines, s.line(ctx, o))
	}
	return report, ctx.Err()
}

// rows returns those that were asked for.
func (r *runner) rows() (rows []Row, singles []Single) {
	wanted := func(id, what string) bool {
		return r.Rows == nil || r.Rows.MatchString(id) || r.Rows.MatchString(what)
	}
	for _, row := range r.Sheet.Rows() {
		if wanted(row.ID, row.What) {
			rows = append(rows, row)
		}
	}
	for _, s := range r.Sheet.More {
		if wanted(s.ID, s.What) {
			singles = append(singles, s)
		}
	}
	return rows, singles
}

// sets returns the sets that rows need, without the variants they do not.
func (r *runner) sets(rows []Row) (sets []Set) {
	wanted := map[string]bool{}
	for _, row := range rows {
		for _, v := range row.variants() {
			wanted[v] = true
		}
	}
	for _, s := range r.Sheet.Sets() {
		for _, v := range s.Variants {
			if v.Twice != "" && wanted[s.Name+"/"+v.Name] {
				wanted[s.Name+"/"+v.Twice] = true
			}
		}
		some := Set{Name: s.Name}
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

// measure opens all variants of a set, has them take turns, and closes them.
func (r *runner) measure(s Set) []*Outcome {
	outcomes := make([]*Outcome, len(s.Variants))
	stations := make([]*station, len(s.Variants))
	for i, v := range s.Variants {
		r.say("%s: opening %s", s.Name, v.Name)
		outcomes[i] = &Outcome{Set: s.Name, Variant: v.Name, MTU: v.MTU}
		var err error
		if stations[i], err = r.set(v); err != nil {
			r.fail(outcomes[i], err)
		}
		outcomes[i].Infos = stations[i].infos
	}
	r.open = stations
	defer func() {
		for _, s := range stations {
			s.close()
		}
		r.open = nil
	}()
	for round := 1; round <= r.Plan.Rounds && r.ctx.Err() == nil; round++ {
		r.say("%s: round %d of %d", s.Name, round, r.Plan.Rounds)
		for i := range s.Variants {
			r.turn(s, stations, outcomes, i, round)
		}
	}
	if r.ctx.Err() != nil {
		for _, o := range outcomes {
			o.Error = "interrupted"
		}
	}
	for i, v := range s.Variants {
		if v.Profiled && r.Profile != "" && outcomes[i].Error == "" && r.ctx.Err() == nil {
			r.say("%s: profile of %s", s.Name, v.Name)
			file := filepath.Join(r.Profile, strings.ReplaceAll(s.Name+"-"+v.Name, " ", "-"))
			if _, err := r.run(stations[i], r.Plan.Rounds+1, 3*time.Second, 0, file); err != nil {
				r.fail(outcomes[i], err)
			}
		}
	}
	return outcomes
}

// turn measures variant i in a round.
func (r *runner) turn(s Set, stations []*station, outcomes []*Outcome, i, round int) {
	out, v := outcomes[i], s.Variants[i]
	if out.Error != "" || r.ctx.Err() != nil {
		return
	}
	offered := 0.0
	if v.Twice != "" {
		for k, other := range s.Variants {
			if peak, ok := outcomes[k].round(round); ok && other.Name == v.Twice {
				offered = 2 * peak.Ends[1].Rate()
			}
		}
		if offered == 0 {
			r.fail(out, errors.New("the peak was not measured"))
			return
		}
	}
	length := r.Plan.For * time.Duration(max(1, s.Times))
	r.settle()
	run, err := r.run(stations[i], round, length, offered, "")
	for err == nil && run.Others > Busy && r.wait > 0 { // once more, as long as the plan waits
		r.wait -= length
		r.settle()
		run, err = r.run(stations[i], round, length, offered, "")
	}
	// Where others take the cores for longer than a round lasts, a longer one shows more.
	for length < longest && errors.Is(err, errIncredible) && r.ctx.Err() == nil {
		r.say("%s: %s: round %d again, longer: %v", s.Name, v.Name, round, err)
		length = min(4*length, longest)
		run, err = r.run(stations[i], round, length, offered, "")
	}
	switch {
	case r.ctx.Err() != nil:
	case err != nil:
		r.fail(out, fmt.Errorf("round %d: %w", round, err))
		stations[i].close() // whatever still runs there
	default:
		out.Runs = append(out.Runs, run)
	}
}

// fail notes why a variant is not measured any more.
func (r *runner) fail(o *Outcome, err error) {
	o.Error, o.Missing = err.Error(), errors.Is(err, errNoCgroup)
	r.say("%s: %s: %v", o.Set, o.Variant, err)
}

// settle waits until others leave the cores alone, as long as the plan allows.
func (r *runner) settle() {
	const look = 40 * time.Millisecond
	for r.wait > 0 && r.ctx.Err() == nil {
		before := readUsage(r.workers())
		t := time.NewTimer(look)
		select {
		case <-t.C:
		case <-r.ctx.Done():
		}
		t.Stop()
		r.wait -= look
		if readUsage(r.workers()).others(before) <= Busy {
			return
		}
	}
}

// workers are the processes of all stations that are open.
func (r *runner) workers() (pids []int) {
	for _, s := range r.open {
		for _, p := range s.all {
			pids = append(pids, p.PID())
		}
	}
	return pids
}

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.Progress, format+"\n", args...)
}
