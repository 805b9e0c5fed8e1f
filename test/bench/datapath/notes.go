// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/sheet"
)

// annotate adds what a reader of the line must know, and takes back a target that was
// met with links reset.
func (r *Row) annotate(l *Line, ours, beside, limit *Outcome) {
	var notes []string
	if l.Notes != "" {
		notes = append(notes, l.Notes)
	}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if limit != nil {
		if c := r.compare(limit, beside); len(c.ratios) > 0 {
			l.Limit = spreadOf(c.ratios)
			_, name, _ := strings.Cut(r.Limit, "/")
			note("%s frames reach %.2f", name, l.Limit.Median)
		}
	}
	switch r.Metric {
	case TripTime:
		note("p99 %s beside %s", trips(ours, p99), trips(beside, p99))
	case TripRate:
		note("p50 %s, p99 %s beside p50 %s, p99 %s", trips(ours, p50), trips(ours, p99), trips(beside, p50), trips(beside, p99))
	}
	if s := ours.Infos[0].Driver; s != "" {
		note("%s", s)
	}
	if n := resets(ours) + resets(beside); r.Kept || n > 0 {
		note("%d link resets", n)
		if n > 0 && r.Kept {
			l.Met = false
		}
	}
	if l.Busy > 0 {
		note("%d busy rounds left out", l.Busy)
	}
	noteOneWay(ours, note)
	l.Notes = strings.Join(notes, "; ")
}

func p50(r load.Result) time.Duration { return r.P50 }
func p99(r load.Result) time.Duration { return r.P99 }

// trips prints the median over all runs of what q says of each.
func trips(o *Outcome, q func(load.Result) time.Duration) string {
	var v []float64
	for _, r := range o.Runs {
		v = append(v, float64(q(r.Ends[0])))
	}
	return TripTime.text(sheet.Median(v))
}

func resets(o *Outcome) (n uint64) {
	for _, r := range o.Runs {
		n += r.Ends[0].Resets + r.Ends[1].Resets
	}
	return n
}

// noteOneWay says of a one-way variant what the figure alone would hide.
func noteOneWay(o *Outcome, note func(string, ...any)) {
	var per, offered, floods []float64
	var again uint64
	refused := ""
	for _, r := range o.Runs {
		s := r.Ends[0]
		again += s.Again
		if x := r.Ends[1].Refused; x != "" {
			refused = x
		}
		if s.Frames > 0 && s.Count > 0 && r.Ends[1].Count > 0 && s.P50 == 0 {
			per = append(per, float64(s.Count)/float64(s.Frames))
		}
		if r.Flood.Count > 0 {
			floods = append(floods, r.Flood.Rate())
		}
		if s.Offered > 0 {
			offered = append(offered, float64(s.Offered)/s.Elapsed.Seconds())
		}
	}
	if len(per) > 0 {
		note("%.1f messages a frame", sheet.Median(per))
	}
	if len(floods) > 0 {
		note("%s useless frames beside", Messages.text(sheet.Median(floods)))
	}
	if len(offered) > 0 {
		note("offered %s", Messages.text(sheet.Median(offered)))
	}
	if again > 0 {
		note("%d packets sent again", again)
	}
	if refused != "" {
		note("the receiver dropped, in one round: %s", refused)
	}
}
