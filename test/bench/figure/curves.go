// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"strings"
)

// Sizes of a plot of curves.
const (
	plotWidth, plotHeight = 620.0, 340.0
	titleText             = 15.0
	labelText             = 12.0
	plotTop               = 46.0 // with the title
	plotBottom            = 54.0 // labels and the axis' title
	margin                = 16.0
)

// SVG draws the figure: a picture that needs nothing else, of curves or, with Ticks, of
// bars. What has no place on an axis is left out.
func (f *Figure) SVG() string { return f.svg(newInkwell(*f)) }

func (f *Figure) svg(w *inkwell) string {
	if f.Ticks != nil {
		return f.bars(w)
	}
	return f.curves(w)
}

func (f *Figure) curves(w *inkwell) string {
	x, y := f.rulers()
	left := margin + labelText + 12
	widest := 0.0
	yTicks := y.ticks(7)
	for _, t := range yTicks {
		widest = max(widest, textWidth(t.label, labelText))
	}
	left += widest
	x.a, x.b = left, left+plotWidth
	l := f.newLegend(w)
	var c canvas
	c.title(f.Title)
	f.frame(&c, x, y, yTicks)
	many := len(f.xs()) > dense
	order := f.order()
	for _, s := range order {
		f.band(&c, s, w.ink(s), x, y)
	}
	for _, s := range order {
		k := w.ink(s)
		if many {
			k = k.faint()
		}
		f.curve(&c, s, k, x, y)
	}
	if !f.drawn(x, y) {
		c.text((x.a+x.b)/2, (y.a+y.b)/2, 14, "middle", grey, "nothing was measured")
	}
	l.draw(&c, x.b+22, plotTop+2, func(k ink, lx, ly float64) {
		if many {
			k = k.faint()
		}
		c.stroke(fmt.Sprintf("M%.1f %.1fh24", lx, ly), k)
		c.mark(lx+12, ly, k, "")
	})
	height := max(plotTop+plotHeight+plotBottom, plotTop+l.height()+margin)
	width := max(x.b+22+l.width+margin, margin+textWidth(f.Title, titleText)*1.1+margin)
	return c.svg(f.Title, width, height)
}

// order has the curves of others first: ours lie above them.
func (f *Figure) order() (all []*Series) {
	for _, ours := range []bool{false, true} {
		for i := range f.Series {
			if f.Series[i].Ours == ours {
				all = append(all, &f.Series[i])
			}
		}
	}
	return all
}

// rulers cover all points. A ratio's includes 1, which parts better from worse. A linear
// one ends at half as much again as the largest median, however far a single round went.
func (f *Figure) rulers() (x, y ruler) {
	var xs, ys, all []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			xs = append(xs, p.X)
			ys = append(ys, p.Y)
			if all = append(all, p.Y); p.spread() {
				all = append(all, p.Low, p.High)
			}
		}
	}
	if f.Y.Unit == Ratio {
		ys, all = append(ys, 1), append(all, 1)
	}
	if !f.Y.Log {
		bound := newRuler(f.Y, ys, true, 0, 0).to * 1.5
		for i := range all {
			if finite(all[i]) {
				all[i] = min(all[i], max(bound, 0))
			}
		}
	}
	return newRuler(f.X, xs, false, 0, plotWidth), newRuler(f.Y, all, true, plotTop+plotHeight, plotTop)
}

// spread reports whether the point has one.
func (p *Point) spread() bool {
	return finite(p.Low) && finite(p.High) && (p.Low != 0 || p.High != 0) && p.Low != p.High
}

// drawn reports whether there is any point to see.
func (f *Figure) drawn(x, y ruler) bool {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if x.fits(p.X) && y.fits(p.Y) {
				return true
			}
		}
	}
	return false
}

// frame draws the grid, the axes and what is written at them.
func (f *Figure) frame(c *canvas, x, y ruler, yTicks []tick) {
	for _, t := range x.ticks(10) {
		at := x.at(t.at)
		c.line(at, y.a, at, y.b, light, weight(t))
		if t.label != "" {
			c.text(at, y.a+18, labelText, "middle", grey, t.label)
		}
	}
	for _, t := range yTicks {
		at := y.at(t.at)
		c.line(x.a, at, x.b, at, light, weight(t))
		if t.label != "" {
			c.text(x.a-8, at+4, labelText, "end", grey, t.label)
		}
	}
	if f.Y.Unit == Ratio {
		c.line(x.a, y.at(1), x.b, y.at(1), strong, 1.5)
	}
	c.line(x.a, y.a, x.b, y.a, strong, 1)
	c.line(x.a, y.a, x.a, y.b, strong, 1)
	c.text((x.a+x.b)/2, y.a+40, labelText+0.5, "middle", black, x.title(f.X))
	mid := (y.a + y.b) / 2
	c.add(`<text transform="translate(%.1f %.1f) rotate(-90)" font-size="%g" text-anchor="middle" fill="%s">%s</text>`,
		margin+labelText-2, mid, labelText+0.5, black, escape(y.title(f.Y)))
}

// weight is that of a line of the grid.
func weight(t tick) float64 {
	if t.label == "" {
		return 0.6
	}
	return 1.2
}

// band shades what is between the smallest and the largest round; where a curve has but
// one point, a line stands for it.
func (f *Figure) band(c *canvas, s *Series, k ink, x, y ruler) {
	var over, under []string
	end := func() {
		opacity := 0.10
		if k.ours {
			opacity = 0.18
		}
		if len(over) > 1 {
			for i := len(under) - 1; i >= 0; i-- {
				over = append(over, under[i])
			}
			c.add(`<path d="M%sz" fill="%s" fill-opacity="%g"/>`, strings.Join(over, "L"), k.colour, opacity)
		} else if len(over) == 1 {
			c.add(`<path d="M%sL%s" stroke="%s" stroke-opacity="0.5" stroke-width="3"/>`, over[0], under[0], k.colour)
		}
		over, under = nil, nil
	}
	for i := range s.Points {
		p := &s.Points[i]
		if !x.fits(p.X) || !y.fits(p.Y) || !p.spread() {
			end()
			continue
		}
		over = append(over, fmt.Sprintf("%.1f %.1f", x.at(p.X), y.at(p.High)))
		under = append(under, fmt.Sprintf("%.1f %.1f", x.at(p.X), y.at(p.Low)))
	}
	end()
}

// curve draws the medians; it breaks where one has no place.
func (f *Figure) curve(c *canvas, s *Series, k ink, x, y ruler) {
	var path strings.Builder
	pen := "M"
	for _, p := range s.Points {
		if !x.fits(p.X) || !y.fits(p.Y) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, x.at(p.X), y.at(p.Y))
		pen = "L"
	}
	c.stroke(path.String(), k)
	for i := range s.Points {
		if p := &s.Points[i]; x.fits(p.X) && y.fits(p.Y) {
			c.mark(x.at(p.X), y.at(p.Y), k, f.tip(s, p))
		}
	}
}

// tip is what a browser shows of a point that is pointed at.
func (f *Figure) tip(s *Series, p *Point) string {
	return strings.TrimSpace(fmt.Sprintf("%s, %s: %s %s", s.Name, f.xText(p.X), f.Y.Unit.Text(p.Y), f.Y.Unit.spread(p.Y, p.Low, p.High)))
}

// stroke draws a path.
func (c *canvas) stroke(path string, k ink) {
	if path == "" {
		return
	}
	dash := ""
	if k.dash != "" {
		dash = ` stroke-dasharray="` + k.dash + `"`
	}
	c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="%g" stroke-linejoin="round"%s/>`, path, k.colour, k.width, dash)
}

// mark draws a mark, if the ink has one.
func (c *canvas) mark(x, y float64, k ink, tip string) {
	if k.mark < 0 {
		return
	}
	if tip != "" {
		tip = "<title>" + escape(tip) + "</title>"
	}
	c.add(`<path d="%s" fill="%s" stroke="%s">%s</path>`, marks[k.mark](x, y), k.colour, paper, tip)
}
