// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"math"
	"slices"
	"strings"

	"github.com/utipc/utipc/test/bench/sheet"
)

// A grid is a Figure or a Table as words: what the terminal, the page and the document
// print, each in its way.
type grid struct {
	title string
	heads []string // the first is that of the rows' names
	ours  []bool   // columns of this stack; as many as heads
	right bool     // the rows' names are numbers
	rows  []line
}

// A line is a row of a grid.
type line struct {
	name  string
	ours  bool
	cells []entry // one less than the grid's heads
	note  string
}

// An entry is a value and, if it was measured more than once, its spread.
type entry struct{ text, spread string }

// grid is the table's.
func (t *Table) grid() grid {
	g := grid{title: t.Title, heads: slices.Clone(t.Heads), ours: make([]bool, len(t.Heads))}
	for _, r := range t.Rows {
		l := line{name: r.Name, ours: r.Ours, note: r.Note}
		for _, c := range r.Cells {
			l.cells = append(l.cells, c.entry())
		}
		g.rows = append(g.rows, l)
	}
	g.square()
	return g
}

// square gives all rows as many cells as the longest, or the heads, have.
func (g *grid) square() {
	n := max(1, len(g.heads))
	for _, l := range g.rows {
		n = max(n, len(l.cells)+1)
	}
	for len(g.heads) < n {
		g.heads, g.ours = append(g.heads, ""), append(g.ours, false)
	}
	for i := range g.rows {
		for len(g.rows[i].cells) < n-1 {
			g.rows[i].cells = append(g.rows[i].cells, entry{})
		}
	}
}

func (c *Cell) entry() entry {
	if c.Word != "" {
		return entry{text: c.Word}
	}
	return entry{c.Unit.Text(c.Value), c.Unit.spread(c.Value, c.Low, c.High)}
}

// dense is the number of different x beyond which a table of all would tell nobody
// anything, and points stand too close for marks.
const dense = 40

// grid has a row for each x and a column for each curve; of many x, a row for each curve.
func (f *Figure) grid() grid {
	xs := f.xs()
	if len(xs) > dense {
		return f.shapes(xs)
	}
	g := grid{title: f.Title, heads: []string{f.X.Label}, ours: []bool{false}, right: f.Ticks == nil}
	at := make([]map[float64]*Point, len(f.Series))
	for i := range f.Series {
		s := &f.Series[i]
		g.heads, g.ours = append(g.heads, s.Name), append(g.ours, s.Ours)
		at[i] = map[float64]*Point{}
		for k := range s.Points {
			at[i][s.Points[k].X] = &s.Points[k]
		}
	}
	for _, x := range xs {
		l := line{name: f.xText(x)}
		for i := range f.Series {
			e := entry{text: "-"}
			if p := at[i][x]; p != nil {
				e = entry{f.Y.Unit.Text(p.Y), f.Y.Unit.spread(p.Y, p.Low, p.High)}
			}
			l.cells = append(l.cells, e)
		}
		g.rows = append(g.rows, l)
	}
	return g
}

// xs are all x of the curves, each once, in order.
func (f *Figure) xs() (xs []float64) {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if finite(p.X) {
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// xText prints an x: its name, or the value.
func (f *Figure) xText(x float64) string {
	if i := int(x); float64(i) == x && i >= 0 && i < len(f.Ticks) {
		return f.Ticks[i]
	}
	return f.X.Unit.roundText(x)
}

// shapes has a row for each curve: its range and how it runs.
func (f *Figure) shapes(xs []float64) grid {
	of := strings.TrimSpace(f.Y.Label + " over " + f.X.Label + ", " + f.X.Unit.roundText(xs[0]) + " to " + f.X.Unit.roundText(xs[len(xs)-1]))
	g := grid{title: f.Title, heads: []string{of, "least", "median", "most", "0 to most"}, ours: make([]bool, 5)}
	for _, s := range f.Series {
		var y []float64
		for _, p := range s.Points {
			if finite(p.X) && finite(p.Y) {
				y = append(y, p.Y)
			}
		}
		l := line{name: s.Name, ours: s.Ours, cells: []entry{{text: "-"}, {text: "-"}, {text: "-"}, {}}}
		if len(y) > 0 {
			u := f.Y.Unit
			l.cells = []entry{
				{text: u.Text(slices.Min(y))},
				{text: u.Text(sheet.Median(y))},
				{text: u.Text(slices.Max(y))},
				{text: spark(s.Points, xs[0], xs[len(xs)-1], slices.Max(y))},
			}
		}
		g.rows = append(g.rows, l)
	}
	return g
}

// spark draws a curve in one line: 0 is a blank, and top a full block.
func spark(points []Point, from, to, top float64) string {
	const columns = 32
	var sum, n [columns]float64
	for _, p := range points {
		if !finite(p.X) || !finite(p.Y) || to <= from {
			continue
		}
		k := min(columns-1, int((p.X-from)/(to-from)*columns))
		sum[k] += p.Y
		n[k]++
	}
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for k := range sum {
		i := 0
		if n[k] > 0 && top > 0 && sum[k] > 0 {
			i = int(math.Ceil(sum[k] / n[k] / top * 8))
		}
		b.WriteRune(blocks[min(i, 8)])
	}
	return b.String()
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
