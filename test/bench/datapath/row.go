// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// A Metric is what a row compares. Times are better when smaller, rates when larger.
type Metric uint8

const (
	TripTime Metric = iota // the median round trip
	TripRate               // round trips a second, so that long ones count as what they last
	Messages               // messages received, a second
	Bits                   // bits of messages received, a second
)

// of returns the figure of a run: ns, or a number a second.
func (m Metric) of(r station.Run) float64 {
	switch m {
	case TripTime:
		return float64(r.Ends[0].P50)
	case TripRate:
		return r.Ends[0].Rate()
	case Messages:
		return r.Ends[1].Rate()
	}
	return r.Ends[1].BitRate()
}

// times is how many times as good u is as v.
func (m Metric) times(u, v float64) float64 {
	if m == TripTime {
		return v / u
	}
	return u / v
}

// text prints a figure with its unit.
func (m Metric) text(v float64) string {
	switch m {
	case TripTime:
		return fmt.Sprintf("%.2f us", v/1e3)
	case TripRate:
		return fmt.Sprintf("%.1f k/s", v/1e3)
	case Messages:
		return fmt.Sprintf("%.3f M/s", v/1e6)
	}
	return fmt.Sprintf("%.2f Gbit/s", v/1e9)
}

// A Goal is how a row's ratio and its target are read.
type Goal uint8

const (
	AtLeast Goal = iota // how many times as good ours is, not below the target
	AtMost              // ours divided by beside, not above the target
	Printed             // as AtLeast, without a target
)

// A Row is one line of the table. Ours and Beside name variants as "set/variant".
type Row struct {
	ID     string // what --rows matches, besides What
	What   string
	Ours   string
	Beside string
	Metric Metric
	Goal   Goal
	Target float64
	// Limit names a variant of the same set that no stack can pass, such as bare
	// frames: what it reaches beside Beside is printed with the line.
	Limit string
	// Kept demands that no link was reset in any run of either.
	Kept bool
	// Count, instead of a ratio: what must be 0, the most of Ours and Also.
	Count func(station.Run) float64
	Also  string
	// Sealed has Beside, which is plain, last as much longer as AES alone takes of
	// the frames of Ours in that round: the ratio is to what AES would leave.
	Sealed bool
}

// variants lists those a row is made of.
func (r *Row) variants() []string {
	all := []string{r.Ours, r.Beside, r.Also, r.Limit}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// A Line is a row with its figures.
type Line struct {
	ID     string `json:"id"`
	What   string `json:"what"`
	Ours   string `json:"ours"`
	Beside string `json:"beside"`
	Ratio  Spread `json:"ratio"`
	Limit  Spread `json:"limit"` // the ratio that Limit reaches
	Target string `json:"target"`
	Met    bool   `json:"met"`
	Judged bool   `json:"judged"` // it has a target
	Rounds int    `json:"rounds"` // that the ratio is of
	Busy   int    `json:"busy"`   // rounds left out because others used the cores
	Notes  string `json:"notes,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Verdict is the line's last column.
func (l *Line) Verdict() string {
	switch {
	case !l.Judged && l.Error == "":
		return "-"
	case l.Met:
		return "ok"
	}
	return "MISS"
}

// target prints the target.
func (r *Row) target() string {
	switch {
	case r.Count != nil:
		return "0"
	case r.Goal == AtMost:
		return fmt.Sprintf("<= %g", r.Target)
	case r.Goal == AtLeast:
		return fmt.Sprintf(">= %g", r.Target)
	}
	return "-"
}

// none is what a count must be below to be called 0: the beginning and the end of a
// job allocate a little themselves, once.
const none = 0.001

// judge makes the row's line of what was measured.
func (r *Row) judge(outcomes map[string]*Outcome) Line {
	l := Line{ID: r.ID, What: r.What, Target: r.target(), Judged: r.Goal != Printed}
	for _, v := range r.variants() {
		if v == r.Limit {
			continue // the line does without
		}
		switch o := outcomes[v]; {
		case o == nil || o.Error == "" && len(o.Runs) == 0:
			l.Error = "not measured"
		case o.Missing:
			l.Error = "not measurable here: " + o.Error
		case o.Error != "":
			l.Error = o.Error
		}
		if l.Error != "" {
			return l
		}
	}
	if r.Count != nil {
		r.count(&l, outcomes)
		return l
	}
	ours, beside := outcomes[r.Ours], outcomes[r.Beside]
	c := r.compare(ours, beside)
	l.Rounds, l.Busy = len(c.ratios), c.busy
	if len(c.ratios) == 0 {
		l.Error = "no round has both"
		return l
	}
	l.Ours, l.Beside, l.Ratio = r.Metric.text(sheet.Median(c.a)), r.Metric.text(sheet.Median(c.b)), spreadOf(c.ratios)
	switch r.Goal {
	case AtLeast:
		l.Met = l.Ratio.Median >= r.Target
	case AtMost:
		l.Met = l.Ratio.Median <= r.Target
	}
	if r.Sealed {
		l.Notes = r.sealing(c)
		if sheet.Median(c.frames) < 1 {
			l.Error, l.Met = "fewer sealed frames than messages were counted", false
			return l
		}
	}
	var limit *Outcome
	if r.Limit != "" {
		limit = outcomes[r.Limit]
	}
	r.annotate(&l, ours, beside, limit)
	return l
}

// sealing is what a Sealed row's line says of AES.
func (r *Row) sealing(c comparison) string {
	return fmt.Sprintf("AES alone takes %.2f us of %.1f frames and leaves %s; %.2f of plain",
		sheet.Median(c.aes)/1e3, sheet.Median(c.frames), r.Metric.text(sheet.Median(c.left)), sheet.Median(c.plain))
}

// A comparison is two variants, round by round.
type comparison struct {
	a, b, ratios []float64
	busy         int // rounds left out

	// Of a Sealed row: what AES leaves, what it takes of a message, in ns, of so many
	// frames, and the ratio to the plain figure.
	left, aes, frames, plain []float64
}

func (r *Row) compare(ours, beside *Outcome) (c comparison) {
	rounds, busy := quiet(ours, beside)
	c.busy = busy
	for _, n := range rounds {
		x, _ := ours.round(n)
		y, _ := beside.round(n)
		u, v := r.Metric.of(x), r.Metric.of(y)
		if u <= 0 || v <= 0 {
			continue
		}
		c.a, c.b = append(c.a, u), append(c.b, v)
		if r.Sealed {
			ns, frames := aes(x, r.Metric)
			c.plain = append(c.plain, r.Metric.times(u, v))
			v = r.Metric.less(v, x, ns)
			c.left, c.aes, c.frames = append(c.left, v), append(c.aes, ns), append(c.frames, frames)
		}
		if (r.Metric == TripTime) != (r.Goal == AtMost) {
			u, v = v, u // times: how many times as fast ours is
		}
		c.ratios = append(c.ratios, u/v)
	}
	return c
}

// quiet returns the rounds that count: those that have both, and in which others left
// the cores alone. When that leaves fewer than three, or than half, it is all of them;
// busy says how many were left out.
func quiet(ours, beside *Outcome) (rounds []int, busy int) {
	var all []int
	for _, x := range ours.Runs {
		y, ok := beside.round(x.Round)
		if !ok {
			continue
		}
		all = append(all, x.Round)
		if max(x.Others, y.Others) <= station.Busy {
			rounds = append(rounds, x.Round)
		}
	}
	if len(rounds) < 3 || 2*len(rounds) < len(all) {
		return all, 0
	}
	return rounds, len(all) - len(rounds)
}

// count judges a row that counts.
func (r *Row) count(l *Line, outcomes map[string]*Outcome) {
	var worst []float64
	var each []string
	for _, name := range r.variants() {
		var v []float64
		for _, x := range outcomes[name].Runs {
			v = append(v, r.Count(x))
		}
		each = append(each, fmt.Sprintf("%s %.4f", name, sheet.Median(v)))
		if m := sheet.Median(v); len(worst) == 0 || m > sheet.Median(worst) {
			worst = v
		}
	}
	l.Ratio, l.Notes = spreadOf(worst), strings.Join(each, "; ")
	l.Ours, l.Beside, l.Met = fmt.Sprintf("%.4f", l.Ratio.Median), "-", l.Ratio.Median < none
}
