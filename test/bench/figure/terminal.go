// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Width is how many columns of a terminal a table may take.
const Width = 110

// head says in lines what the run was.
func (r *Report) head() []string {
	lines := []string{
		r.Machine.String(),
		fmt.Sprintf("%s, commit %s", r.Command, r.Commit),
		fmt.Sprintf("%s; began %s, took %v; others used %s of the cores", r.Place,
			r.Began.UTC().Format(time.RFC3339), r.Took.Round(time.Second), Percent.Text(100*r.Others)),
	}
	if r.Plan != "" {
		lines = append(lines, r.Plan)
	}
	return lines
}

// String is the machine in a line.
func (m Machine) String() string {
	cores := fmt.Sprintf("%d cores", m.Cores)
	if m.Memory > 0 {
		cores += ", " + Bytes.Text(float64(m.Memory))
	}
	return fmt.Sprintf("%s, %s, %s, %s", m.CPU, cores, m.Kernel, m.Go)
}

// Text prints the report for a terminal with so many columns: every curve as a table,
// median and, where there is room, the smallest and the largest round.
func (r *Report) Text(w io.Writer, width int) {
	fmt.Fprintln(w, r.Title)
	for _, l := range r.head() {
		fmt.Fprintln(w, l)
	}
	for _, warning := range r.Warnings {
		paragraph(w, "warning: "+warning, "", width)
	}
	for i := range r.Sections {
		r.Sections[i].Text(w, width)
	}
	if len(r.Losses) > 0 {
		writeLosses(w, r.Losses, width)
	}
}

// Text prints the section alone.
func (s *Section) Text(w io.Writer, width int) {
	fmt.Fprintf(w, "\n== %s ==\n", s.Title)
	for i := range s.Figures {
		fmt.Fprintln(w)
		g := s.Figures[i].grid()
		g.text(w, width)
	}
	for i := range s.Tables {
		fmt.Fprintln(w)
		g := s.Tables[i].grid()
		g.text(w, width)
	}
	if len(s.Says) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range s.Says {
		paragraph(w, line, "  ", width)
	}
	for _, e := range s.Errors {
		paragraph(w, "error: "+e, "  ", width)
	}
}

// A column of a grid, as wide as it has to be.
type column struct {
	head         []string // in lines
	value, extra int      // widths of the values, and of the spreads with a space before them
}

func (c column) width() int { return c.value + c.extra }

// columns measures those behind the names, with spreads or without.
func (g *grid) columns(spreads bool) (all []column) {
	for i := 1; i < len(g.heads); i++ {
		var c column
		for _, l := range g.rows {
			e := l.cells[i-1]
			c.value = max(c.value, utf8.RuneCountInString(e.text))
			if n := utf8.RuneCountInString(e.spread); spreads && n > 0 {
				c.extra = max(c.extra, n+1)
			}
		}
		c.head = wrap(g.heads[i], max(c.width(), 12))
		for _, line := range c.head {
			c.value = max(c.value, utf8.RuneCountInString(line)-c.extra)
		}
		all = append(all, c)
	}
	return all
}

// nameWidth is the width of the rows' names.
func (g *grid) nameWidth() int {
	n := utf8.RuneCountInString(g.heads[0])
	for _, l := range g.rows {
		n = max(n, utf8.RuneCountInString(l.name))
	}
	return n
}

// gap is how many blanks stand between columns.
const gap = 2

// text prints the grid: with spreads if all fits beside one another, else without them,
// and if that does not either, in parts below one another.
func (g *grid) text(w io.Writer, width int) {
	fmt.Fprintln(w, g.title)
	if len(g.rows) == 0 {
		fmt.Fprintln(w, "  nothing was measured")
		return
	}
	cols := g.columns(true)
	if g.total(cols) > width {
		cols = g.columns(false)
	}
	for from := 0; from < len(cols) || from == 0; {
		to := from + 1
		for to < len(cols) && g.total(cols[from:to+1]) <= width {
			to++
		}
		to = min(to, len(cols))
		if from > 0 {
			fmt.Fprintln(w)
		}
		g.part(w, cols, from, to, width)
		from = max(to, 1)
	}
}

// total is the width of a part of the columns, with the names.
func (g *grid) total(cols []column) int {
	n := gap + g.nameWidth()
	for _, c := range cols {
		n += gap + c.width()
	}
	return n
}

// part prints some of the columns.
func (g *grid) part(w io.Writer, cols []column, from, to, width int) {
	name, height := g.nameWidth(), 1
	for _, c := range cols[from:to] {
		height = max(height, len(c.head))
	}
	for k := range height {
		var b strings.Builder
		if k == height-1 {
			pad(&b, g.heads[0], name, g.right)
		} else {
			pad(&b, "", name, false)
		}
		for _, c := range cols[from:to] {
			head := ""
			if i := k - (height - len(c.head)); i >= 0 {
				head = c.head[i]
			}
			b.WriteString(strings.Repeat(" ", gap))
			pad(&b, head, c.width(), true)
		}
		fmt.Fprintln(w, indent+strings.TrimRight(b.String(), " "))
	}
	for _, l := range g.rows {
		var b strings.Builder
		pad(&b, l.name, name, g.right)
		for i, c := range cols[from:to] {
			e := l.cells[from+i]
			b.WriteString(strings.Repeat(" ", gap))
			pad(&b, e.text, c.value, true)
			if c.extra > 0 {
				pad(&b, " "+e.spread, c.extra, false)
			}
		}
		fmt.Fprintln(w, indent+strings.TrimRight(b.String(), " "))
		if l.note != "" && to == len(cols) {
			paragraph(w, l.note, indent+"    ", width)
		}
	}
}

// indent is what stands before every line of a table.
const indent = "  "

// pad writes s and blanks, to the right of the blanks or to their left.
func pad(b *strings.Builder, s string, width int, right bool) {
	blanks := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		b.WriteString(blanks + s)
	} else {
		b.WriteString(s + blanks)
	}
}

// paragraph prints a text in lines that are no wider, where its words allow it.
func paragraph(w io.Writer, text, indent string, width int) {
	for _, line := range wrap(text, width-len(indent)) {
		fmt.Fprintln(w, indent+line)
	}
}

// wrap breaks a text between words, into lines of so many characters; a longer word has
// a longer line.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}
