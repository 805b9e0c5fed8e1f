// SPDX-License-Identifier: Apache-2.0

package figure

import "strings"

// Sizes of a chart of bars, which lie: their names can be read.
const (
	barsWidth = 520.0
	barGroup  = 14.0 // between two groups
	barValue  = 12.0 // text
)

// bars draws a group for each of Ticks, and in it a bar for each curve.
func (f *Figure) bars(w *inkwell) string {
	_, y := f.rulers()
	if y.log { // so that the shortest can be seen
		y.from /= 3
	}
	thick := 18.0
	if len(f.Series) > 3 {
		thick = 13
	}
	left := 0.0
	names := make([][]string, len(f.Ticks))
	for i, t := range f.Ticks {
		names[i] = wrap(t, 34)
		for _, s := range names[i] {
			left = max(left, textWidth(s, labelText+0.5))
		}
	}
	left += margin + 10
	group := max(thick*float64(len(f.Series)), 16) + barGroup
	bottom := plotTop + group*float64(len(f.Ticks))
	y.a, y.b = left, left+barsWidth
	var c canvas
	c.title(f.Title)
	for _, t := range y.ticks(7) {
		at := y.at(t.at)
		c.line(at, plotTop, at, bottom, light, weight(t))
		if t.label != "" {
			c.text(at, bottom+18, labelText, "middle", grey, t.label)
		}
	}
	if f.Y.Unit == Ratio {
		c.line(y.at(1), plotTop, y.at(1), bottom, strong, 1.5)
	}
	for i, lines := range names {
		mid := plotTop + group*(float64(i)+0.5) + 4 - float64(len(lines)-1)*7
		for k, s := range lines {
			c.text(left-8, mid+14*float64(k), labelText+0.5, "end", black, s)
		}
	}
	for n := range f.Series {
		s := &f.Series[n]
		k := w.ink(s)
		for i := range s.Points {
			p := &s.Points[i]
			at := int(p.X)
			if !finite(p.X) || at < 0 || at >= len(f.Ticks) || !y.fits(p.Y) {
				continue
			}
			f.bar(&c, s, p, k, y, plotTop+group*float64(at)+barGroup/2+thick*float64(n), thick-3)
		}
	}
	c.line(left, plotTop, left, bottom, strong, 1)
	c.text(left+barsWidth/2, bottom+40, labelText+0.5, "middle", black, y.title(f.Y))
	right := left + barsWidth + 110 // where the longest bar's value ends
	height, width := bottom+plotBottom, right
	if len(f.Series) > 1 {
		l := f.newLegend(w)
		l.draw(&c, right, plotTop+2, func(k ink, x, y float64) {
			c.add(`<rect x="%.1f" y="%.1f" width="24" height="11" fill="%s"/>`, x, y-6, k.colour)
		})
		height, width = max(height, plotTop+l.height()+margin), right+l.width
	}
	return c.svg(f.Title, max(width, textWidth(f.Title, titleText)*1.1+margin)+margin, height)
}

// bar draws one, with its spread and its value.
func (f *Figure) bar(c *canvas, s *Series, p *Point, k ink, y ruler, top, thick float64) {
	from, to := y.a, y.at(p.Y)
	if !y.log {
		from = y.at(0)
	}
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`,
		min(from, to), top, max(1, max(from, to)-min(from, to)), thick, k.colour, escape(f.tip(s, p)))
	end := max(from, to)
	if p.spread() {
		mid := top + thick/2
		c.line(y.at(p.Low), mid, y.at(p.High), mid, black, 1.2)
		end = max(end, y.at(p.High))
	}
	c.text(end+6, top+thick/2+4, barValue, "start", black, strings.TrimSpace(f.Y.Unit.Text(p.Y)))
}
