// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"slices"
	"strings"
)

// tidy is the report as it can be kept: without values that JSON does not have, which
// become errors of their sections, and with IDs that are different and fit for the names
// of files. r itself is left as it is.
func (r *Report) tidy() *Report {
	out := *r
	used := map[string]bool{"losses": true} // the page has that itself
	out.Sections = slices.Clone(r.Sections)
	for i := range out.Sections {
		s := &out.Sections[i]
		s.ID = fit(s.ID, "section", used)
		s.Errors = slices.Clone(s.Errors)
		s.Figures = slices.Clone(s.Figures)
		for k := range s.Figures {
			s.Figures[k].ID = fit(s.Figures[k].ID, "figure", used)
			s.Errors = append(s.Errors, s.Figures[k].tidy()...)
		}
		s.Tables = slices.Clone(s.Tables)
		for k := range s.Tables {
			s.Tables[k].ID = fit(s.Tables[k].ID, "table", used)
			s.Errors = append(s.Errors, s.Tables[k].tidy()...)
		}
	}
	out.Losses = slices.Clone(r.Losses)
	for i := range out.Losses {
		if l := &out.Losses[i]; !finite(l.Times) {
			l.Times = 0
		}
	}
	if !finite(out.Others) {
		out.Others = 0
	}
	return &out
}

// fit is the ID with letters, digits and - alone, and a number where it was used already.
// Letters are small: some file systems take A for a.
func fit(id, kind string, used map[string]bool) string {
	id = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(id))
	if id = strings.Trim(id[:min(len(id), 80)], "-"); id == "" {
		id = kind
	}
	unique := id
	for n := 2; used[unique]; n++ {
		unique = fmt.Sprint(id, "-", n)
	}
	used[unique] = true
	return unique
}

func (f *Figure) tidy() (errs []string) {
	f.Series = slices.Clone(f.Series)
	for i := range f.Series {
		s := &f.Series[i]
		s.Points = slices.Clone(s.Points)
		n := len(s.Points)
		s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return !finite(p.X) || !finite(p.Y) })
		if n -= len(s.Points); n > 0 {
			errs = append(errs, fmt.Sprintf("%s: %d points of %q are no numbers", f.Title, n, s.Name))
		}
		for k := range s.Points {
			p := &s.Points[k]
			p.Low, p.High, p.Raw = numbers(p.Low, p.High, p.Raw)
		}
	}
	return errs
}

func (t *Table) tidy() (errs []string) {
	t.Rows = slices.Clone(t.Rows)
	for i := range t.Rows {
		row := &t.Rows[i]
		row.Cells = slices.Clone(row.Cells)
		for k := range row.Cells {
			c := &row.Cells[k]
			if !finite(c.Value) {
				errs = append(errs, fmt.Sprintf("%s: cell %d of %q is no number", t.Title, k+1, row.Name))
				*c = Cell{Word: "-"}
			}
			c.Low, c.High, c.Raw = numbers(c.Low, c.High, c.Raw)
		}
	}
	return errs
}

// numbers leaves out what is none; a spread with only one end is no spread.
func numbers(low, high float64, raw []float64) (float64, float64, []float64) {
	if !finite(low) || !finite(high) {
		low, high = 0, 0
	}
	if slices.ContainsFunc(raw, func(v float64) bool { return !finite(v) }) {
		raw = slices.DeleteFunc(slices.Clone(raw), func(v float64) bool { return !finite(v) })
	}
	return low, high, raw
}
