// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/sheet"
)

// annotate adds what a reader of the row must know, and that a target was missed where links
// were reset that are to be kept.
func (c *Comparison) annotate(r *sheet.Row, ours, beside, limit *Outcome) {
	var notes []string
	if r.Notes != "" {
		notes = append(notes, r.Notes)
	}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if limit != nil {
		if f := c.compare(limit, beside); len(f.ratios) > 0 {
			_, name, _ := strings.Cut(c.Limit, "/")
			note("%s frames reach %.2f", name, sheet.Median(f.ratios))
		}
	}
	switch c.Metric {
	case TripTime:
		note("p99 %s beside %s", trips(ours, p99), trips(beside, p99))
	case TripRate:
		note("p50 %s, p99 %s beside p50 %s, p99 %s", trips(ours, p50), trips(ours, p99), trips(beside, p50), trips(beside, p99))
	}
	if s := ours.Infos[0].Driver; s != "" {
		note("%s", s)
	}
	if n := resets(ours) + resets(beside); c.Kept || n > 0 {
		note("%d link resets", n)
		if n > 0 && c.Kept {
			r.Missed = "links were reset"
		}
	}
	if r.Busy > 0 {
		note("%d busy rounds left out", r.Busy)
	}
	noteOneWay(ours, note)
	r.Notes = strings.Join(notes, "; ")
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
