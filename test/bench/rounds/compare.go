// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
)

// A Comparison is a row of a table that compares two variants. Ours and Beside name them as
// "set/variant".
type Comparison struct {
	ID     string // what --only matches, besides What
	What   string
	Ours   string
	Beside string
	Metric Metric
	// Goal says what the ratio is: how many times as good ours is, which is to be at least the
	// Target; or with AtMost ours divided by beside. Without a Target it is printed.
	Goal   sheet.Goal
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
func (c *Comparison) variants() []string {
	all := []string{c.Ours, c.Beside, c.Also, c.Limit}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// goal is that of the row.
func (c *Comparison) goal() sheet.Goal {
	if c.Goal == sheet.Printed && c.Target > 0 {
		return sheet.AtLeast
	}
	return c.Goal
}

// none is what a count must be below to be called 0: the beginning and the end of a
// job allocate a little themselves, once.
const none = 0.001

// judge makes the row of what was measured.
func (c *Comparison) judge(outcomes map[string]*Outcome) sheet.Row {
	r := sheet.Row{ID: c.ID, What: c.What, Goal: c.goal(), Target: c.Target}
	for _, v := range c.variants() {
		if v == c.Limit {
			continue // the row does without
		}
		switch o := outcomes[v]; {
		case o == nil || o.Error == "" && len(o.Runs) == 0:
			r.Error = "not measured"
		case o.Missing:
			r.Error = "not measurable here: " + o.Error
		case o.Error != "":
			r.Error = o.Error
		}
		if r.Error != "" {
			return r
		}
	}
	if c.Count != nil {
		c.count(&r, outcomes)
		return r
	}
	ours, beside := outcomes[c.Ours], outcomes[c.Beside]
	f := c.compare(ours, beside)
	r.Rounds, r.Busy = len(f.ratios), f.busy
	if len(f.ratios) == 0 {
		r.Error = "no round has both"
		return r
	}
	r.Ours, r.Beside = c.Metric.text(sheet.Median(f.a)), c.Metric.text(sheet.Median(f.b))
	r.Value, r.Low, r.High = sheet.Median(f.ratios), slices.Min(f.ratios), slices.Max(f.ratios)
	if c.Sealed {
		r.Notes = c.sealing(f)
		if sheet.Median(f.frames) < 1 {
			r.Error = "fewer sealed frames than messages were counted"
			return r
		}
	}
	c.annotate(&r, ours, beside, outcomes[c.Limit])
	return r
}

// sealing is what a Sealed row says of AES.
func (c *Comparison) sealing(f figures) string {
	return fmt.Sprintf("AES alone takes %.2f us of %.1f frames and leaves %s; %.2f of plain",
		sheet.Median(f.aes)/1e3, sheet.Median(f.frames), c.Metric.text(sheet.Median(f.left)), sheet.Median(f.plain))
}

// figures are those of two variants, round by round.
type figures struct {
	a, b, ratios []float64
	busy         int // rounds left out

	// Of a Sealed row: what AES leaves, what it takes of a message, in ns, of so many
	// frames, and the ratio to the plain figure.
	left, aes, frames, plain []float64
}

func (c *Comparison) compare(ours, beside *Outcome) (f figures) {
	rounds, busy := Quiet(0, ours, beside)
	f.busy = busy
	for _, n := range rounds {
		x, _ := ours.Run(0, n)
		y, _ := beside.Run(0, n)
		u, v := c.Metric.of(x), c.Metric.of(y)
		if u <= 0 || v <= 0 {
			continue
		}
		f.a, f.b = append(f.a, u), append(f.b, v)
		if c.Sealed {
			ns, frames := aes(x, c.Metric)
			f.plain = append(f.plain, c.Metric.times(u, v))
			v = c.Metric.less(v, x, ns)
			f.left, f.aes, f.frames = append(f.left, v), append(f.aes, ns), append(f.frames, frames)
		}
		if (c.Metric == TripTime) != (c.Goal == sheet.AtMost) {
			u, v = v, u // times: how many times as fast ours is
		}
		f.ratios = append(f.ratios, u/v)
	}
	return f
}

// count judges a row that counts.
func (c *Comparison) count(r *sheet.Row, outcomes map[string]*Outcome) {
	var worst []float64
	var each []string
	for _, name := range c.variants() {
		var v []float64
		for _, x := range outcomes[name].Runs {
			v = append(v, c.Count(x))
		}
		each = append(each, fmt.Sprintf("%s %.4f", name, sheet.Median(v)))
		if m := sheet.Median(v); len(worst) == 0 || m > sheet.Median(worst) {
			worst = v
		}
	}
	r.Value, r.Rounds, r.Notes = sheet.Median(worst), len(worst), strings.Join(each, "; ")
	r.Goal, r.Target = sheet.AtMost, none
}
