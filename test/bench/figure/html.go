// SPDX-License-Identifier: Apache-2.0

package figure

import (
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// A page is a report as page.html wants it.
type page struct {
	*Report
	Sections []pageSection
	Raw      template.URL // of the JSON, which is in it
	Bytes    string       // how large that is
}

type pageSection struct {
	*Section
	Paragraphs []string
	Plots      []plot
	Grids      []pageGrid
}

// A plot is a figure with its values.
type plot struct {
	ID  string
	SVG template.HTML
	pageGrid
}

type pageGrid struct {
	ID    string
	Title string
	Heads []pageCell
	Rows  []pageRow
}

type pageRow struct {
	Name  string
	Ours  bool
	Cells []pageCell
	Note  string
}

type pageCell struct {
	Text, Spread string
	Ours         bool
}

// HTML writes the report as one page that needs nothing beside it: plots and raw results
// are in it.
func (r *Report) HTML(w io.Writer) error {
	r = r.tidy()
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	p := page{Report: r, Raw: template.URL("data:application/json;base64," + base64.StdEncoding.EncodeToString(raw)), Bytes: Bytes.Text(float64(len(raw)))}
	for i := range r.Sections {
		s := &r.Sections[i]
		out := pageSection{Section: s, Paragraphs: paragraphs(s.How)}
		well := newInkwell(s.Figures...)
		for k := range s.Figures {
			f := &s.Figures[k]
			// svg has escaped whatever was text.
			out.Plots = append(out.Plots, plot{f.ID, template.HTML(f.svg(well)), newPageGrid("", f.grid())})
		}
		for k := range s.Tables {
			out.Grids = append(out.Grids, newPageGrid(s.Tables[k].ID, s.Tables[k].grid()))
		}
		p.Sections = append(p.Sections, out)
	}
	return pageTemplate.Execute(w, p)
}

func newPageGrid(id string, g grid) pageGrid {
	p := pageGrid{ID: id, Title: g.title}
	for i, h := range g.heads {
		p.Heads = append(p.Heads, pageCell{Text: h, Ours: g.ours[i]})
	}
	for _, l := range g.rows {
		row := pageRow{Name: l.name, Ours: l.ours, Note: l.note}
		for i, e := range l.cells {
			row.Cells = append(row.Cells, pageCell{e.text, e.spread, l.ours || g.ours[i+1]})
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// What page.html asks of a page beside its fields.

func (p page) When() string     { return p.Began.UTC().Format("2006-01-02 15:04 UTC") }
func (p page) Lasted() string   { return p.Took.Round(time.Second).String() }
func (p page) Busy() string     { return Percent.Text(100 * p.Others) }
func (p page) Computer() string { return p.Machine.String() }

// Reasons are its losses by their reasons.
func (p page) Reasons() []reason { return reasons(p.Losses) }

// Factor prints how many times as good theirs is.
func (l Loss) Factor() string { return Ratio.Text(l.Times) }
