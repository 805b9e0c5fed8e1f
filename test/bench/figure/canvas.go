// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"html"
	"strings"
)

// A canvas is a picture as it is written. It has no style sheet, so that it may stand in
// a page beside others.
type canvas struct {
	strings.Builder
}

// Colours of what is no curve.
const (
	paper  = "#ffffff"
	black  = "#1f2328"
	grey   = "#59636e"
	strong = "#8b949e" // axes
	light  = "#e4e8ec" // the grid
)

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

// text writes a text; anchor is start, middle or end.
func (c *canvas) text(x, y, size float64, anchor, colour, s string) {
	c.add(`<text x="%.1f" y="%.1f" font-size="%g" text-anchor="%s" fill="%s">%s</text>`, x, y, size, anchor, colour, escape(s))
}

// title writes that of the picture.
func (c *canvas) title(s string) {
	c.add(`<text x="%g" y="27" font-size="%g" font-weight="600" fill="%s">%s</text>`, margin, titleText, black, escape(s))
}

// line draws a straight one.
func (c *canvas) line(x1, y1, x2, y2 float64, colour string, width float64) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`, x1, y1, x2, y2, colour, width)
}

// escape makes a text one of XML: no markup, and no character that XML does not have.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r == 0xfffe || r == 0xffff:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return html.EscapeString(s)
}

// svg is the whole picture of that size around what was drawn.
func (c *canvas) svg(title string, width, height float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" font-family="sans-serif">
<title>%s</title>
<rect width="%.0f" height="%.0f" rx="6" fill="%s"/>
%s</svg>
`, width, height, width, height, escape(title), width, height, paper, c.String())
}

// A legend is the names of curves, to the right of them.
type legend struct {
	inks  []ink
	names [][]string // in lines
	width float64
}

// Sizes of a legend.
const (
	legendText  = 12.5
	legendLine  = 16.0 // of text
	legendSkip  = 5.0  // between two names
	legendSwing = 32.0 // the sample and what parts it from the name
)

func (f *Figure) newLegend(w *inkwell) (l legend) {
	for i := range f.Series {
		lines := wrap(f.Series[i].Name, 34)
		l.inks = append(l.inks, w.ink(&f.Series[i]))
		l.names = append(l.names, lines)
		for _, s := range lines {
			l.width = max(l.width, legendSwing+textWidth(s, legendText)+4)
		}
	}
	return l
}

// height is what all of it takes.
func (l *legend) height() (h float64) {
	for _, lines := range l.names {
		h += legendLine*float64(len(lines)) + legendSkip
	}
	return h
}

// draw writes it; sample draws one of the curve at the place given, 24 wide.
func (l *legend) draw(c *canvas, x, y float64, sample func(k ink, x, y float64)) {
	for i, lines := range l.names {
		sample(l.inks[i], x, y+legendLine/2)
		colour := grey
		if l.inks[i].ours {
			colour = black
		}
		for _, s := range lines {
			c.text(x+legendSwing, y+legendLine*0.78, legendText, "start", colour, s)
			y += legendLine
		}
		y += legendSkip
	}
}
