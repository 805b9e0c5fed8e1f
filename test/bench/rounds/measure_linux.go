// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// Measure measures and judges the rows of a table. Interrupted, it reports what it has, with
// ctx's error. Nothing is left behind: no process, no namespace, no interface.
func Measure(ctx context.Context, t *Table, o Options) (*sheet.Report, error) {
	rows, singles := t.chosen(o.Only)
	if len(rows)+len(singles) == 0 {
		return nil, sheet.ErrNone
	}
	site, err := station.NewSite(ctx, station.Options{Program: o.Program, Driver: o.Driver, Nice: o.Nice, Wait: o.Plan.Wait})
	if err != nil {
		return nil, err
	}
	defer site.Close()
	say := func(format string, args ...any) { fmt.Fprintf(o.Progress, format+"\n", args...) }
	report := &sheet.Report{Name: t.Name, Title: t.Title, Plan: o.Plan, Began: time.Now()}
	before := site.Usage()
	var all []*Outcome
	outcomes := map[string]*Outcome{}
	for _, s := range t.needed(rows) {
		if ctx.Err() != nil {
			break
		}
		for _, out := range s.take(ctx, site, o, say) {
			outcomes[out.Set+"/"+out.Variant] = out
			all = append(all, out)
		}
	}
	report.Outcomes = all
	report.Head = head(station.ThisMachine(site.Cores), o, all, site.Usage().Others(before))
	for _, row := range rows {
		report.Rows = append(report.Rows, row.judge(outcomes))
	}
	for _, s := range singles {
		say("%s", s.What)
		report.Rows = append(report.Rows, s.row(ctx, o))
	}
	report.Took = time.Since(report.Began)
	return report, ctx.Err()
}

// take has the variants of a set take turns.
func (s Set) take(ctx context.Context, site *station.Site, o Options, say func(string, ...any)) []*Outcome {
	outcomes := Turns{
		Name: s.Name, Variants: s.Variants, Rounds: o.Plan.Rounds, Exchanges: 1,
		Exchange: func(v, _, round int, so []*Outcome) (x station.Exchange, ok bool, err error) {
			x = s.Variants[v].Exchange(o.Plan.For * time.Duration(max(1, s.Times)))
			if s.Variants[v].Name == s.Twice[0] {
				if x.Offered = 2 * s.peak(round, so); x.Offered == 0 {
					err = errors.New("the peak was not measured")
				}
			}
			return x, true, err
		},
		Last: func(v int, st *station.Station) error {
			name := s.Variants[v].Name
			if o.Profile == "" || !slices.Contains(s.Profiled, name) {
				return nil
			}
			say("%s: profile of %s", s.Name, name)
			x := s.Variants[v].Exchange(3 * time.Second)
			x.Profile = filepath.Join(o.Profile, strings.ReplaceAll(s.Name+"-"+name, " ", "-"))
			_, err := st.Run(x)
			return err
		},
	}.Take(ctx, site, say)
	if ctx.Err() != nil {
		for _, out := range outcomes {
			out.Error = "interrupted"
		}
	}
	return outcomes
}

// peak is the rate that was delivered at the variant to be offered twice of, in a round.
func (s Set) peak(round int, so []*Outcome) float64 {
	for _, o := range so {
		if o.Variant == s.Twice[1] {
			run, _ := o.Run(0, round)
			return run.Ends[1].Rate()
		}
	}
	return 0
}
