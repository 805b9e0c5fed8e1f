// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/station"
)

// A runner measures.
type runner struct {
	Options
	ctx  context.Context
	site *station.Site
}

// Measure measures and judges the rows. Interrupted, it reports what it has, with
// ctx's error. Nothing is left behind: no process, no namespace, no interface.
func Measure(ctx context.Context, o Options) (*Report, error) {
	r := &runner{Options: o, ctx: ctx}
	rows, singles := r.rows()
	if len(rows)+len(singles) == 0 {
		return nil, errors.New("no row has such a name")
	}
	var err error
	r.site, err = station.NewSite(ctx, station.Options{Program: o.Program, Driver: o.Driver, Nice: o.Nice, Wait: o.Plan.Wait})
	if err != nil {
		return nil, err
	}
	defer r.site.Close()
	report := &Report{Nice: o.Nice, Machine: station.ThisMachine(r.site.Cores), Plan: o.Plan, Began: time.Now()}
	before := r.site.Usage()
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
	report.Took, report.Others = time.Since(report.Began), r.site.Usage().Others(before)
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
			if v.Name == s.Twice[0] && wanted[s.Name+"/"+v.Name] {
				wanted[s.Name+"/"+s.Twice[1]] = true
			}
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

// measure opens all variants of a set, has them take turns, and closes them.
func (r *runner) measure(s Set) []*Outcome {
	outcomes := make([]*Outcome, len(s.Variants))
	stations := make([]*station.Station, len(s.Variants))
	for i, v := range s.Variants {
		r.say("%s: opening %s", s.Name, v.Name)
		outcomes[i] = &Outcome{Set: s.Name, Variant: v.Name, MTU: v.MTU}
		st, err := r.site.Open(v)
		if err != nil {
			r.fail(outcomes[i], err)
			continue
		}
		defer st.Close()
		stations[i], outcomes[i].Infos = st, st.Infos
	}
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
		if slices.Contains(s.Profiled, v.Name) && r.Profile != "" && outcomes[i].Error == "" && r.ctx.Err() == nil {
			r.say("%s: profile of %s", s.Name, v.Name)
			file := filepath.Join(r.Profile, strings.ReplaceAll(s.Name+"-"+v.Name, " ", "-"))
			x := v.Exchange(3 * time.Second)
			x.Profile = file
			if _, err := stations[i].Run(x); err != nil {
				r.fail(outcomes[i], err)
			}
		}
	}
	return outcomes
}

// turn measures variant i in a round.
func (r *runner) turn(s Set, stations []*station.Station, outcomes []*Outcome, i, round int) {
	out, v := outcomes[i], s.Variants[i]
	if out.Error != "" || r.ctx.Err() != nil {
		return
	}
	x := v.Exchange(r.Plan.For * time.Duration(max(1, s.Times)))
	if v.Name == s.Twice[0] {
		for k, other := range s.Variants {
			if peak, ok := outcomes[k].round(round); ok && other.Name == s.Twice[1] {
				x.Offered = 2 * peak.Ends[1].Rate()
			}
		}
		if x.Offered == 0 {
			r.fail(out, errors.New("the peak was not measured"))
			return
		}
	}
	run, err := stations[i].Turn(x, func(err error) {
		r.say("%s: %s: round %d again, longer: %v", s.Name, v.Name, round, err)
	})
	run.Round = round
	switch {
	case r.ctx.Err() != nil:
	case err != nil:
		r.fail(out, fmt.Errorf("round %d: %w", round, err))
		stations[i].Close() // whatever still runs there
	default:
		out.Runs = append(out.Runs, run)
	}
}

// fail notes why a variant is not measured any more.
func (r *runner) fail(o *Outcome, err error) {
	o.Error, o.Missing = err.Error(), errors.Is(err, station.ErrNoCgroup)
	r.say("%s: %s: %v", o.Set, o.Variant, err)
}

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.Progress, format+"\n", args...)
}
