// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The drawing's size, and the ellipse's that the nodes are on.
const (
	svgWidth, svgHeight = 960, 600
	svgRX, svgRY        = 360, 225
)

// svgStyle is what a picture that stands alone looks like; a page has the same in map.css.
const svgStyle = `<style>text{font:14px sans-serif;text-anchor:middle;fill:#222}.small{font-size:12px;fill:#555}` +
	`.label{font-size:12px;fill:#222;stroke:#fff;stroke-width:5;paint-order:stroke}svg{background:#fff}` +
	`.node{fill:#fff;stroke:#1668b8;stroke-width:2}.self{fill:#d8eafc}.lost{stroke:#b3261e;stroke-dasharray:4 3}` +
	`.link{fill:none;stroke-width:2}.active{stroke:#1a7f37;stroke-width:3}.standby{stroke:#9a6700;stroke-dasharray:12 4}.defunct{stroke:#b3261e;stroke-dasharray:5 4}` +
	`.other{stroke:#bbb}.onesided{stroke:#b3261e;stroke-dasharray:2 4}</style>`

// svg is the map as a picture; alone with its own style.
func (v *mapView) svg(alone bool) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	e := html.EscapeString
	p(`<svg xmlns="http://www.w3.org/2000/svg" class="map" viewBox="0 0 %d %d" role="img" aria-label="the cluster">`, svgWidth, svgHeight)
	if alone {
		p("%s", svgStyle)
	}
	at := v.places(svgRX, svgRY)
	for i := range at {
		at[i][0] += svgWidth / 2
		at[i][1] += svgHeight / 2
	}
	for _, x := range v.Pairs {
		i, j := v.index(x.a), v.index(x.b)
		if i < 0 || j < 0 {
			continue
		}
		class, note := "other", ""
		if !x.Both && v.told(x) {
			class, note = "onesided", ", told by one of them only"
		}
		p(`<path class="link %s" d="%s"><title>%s and %s: %d links%s</title></path>`, class, arc(at[i], at[j], 0, nil), e(x.A), e(x.B), x.Links, note)
	}
	var labels []string
	drawn := map[int]int{} // own links to a node so far
	for _, l := range v.Links {
		i := v.index(l.to)
		if i < 0 {
			continue
		}
		var mid [2]float64
		d := arc(at[0], at[i], drawn[i], &mid)
		drawn[i]++
		class := strings.ToLower(l.State)
		p(`<path class="link %s" d="%s"><title>to %s on %s: %s, priority %d, tolerance %d ms, %.2f %% repeated, rtt %s, %d resets</title></path>`,
			class, d, e(l.To), e(l.Bearer), l.State, l.Priority, l.Tolerance, l.Loss, micros(l.RTT), l.Resets)
		label := e(l.Bearer) + " " + class
		if l.Loss >= 0.005 {
			label += fmt.Sprintf(", %.2f %% repeated", l.Loss)
		}
		labels = append(labels, fmt.Sprintf(`<text class="label" x="%.0f" y="%.0f">%s</text>`, mid[0], mid[1], label))
	}
	for _, l := range labels { // above all links
		p("%s", l)
	}
	for i, n := range v.Nodes {
		class, under := "node", fmt.Sprintf("%d names", n.Names)
		if !n.Up {
			under = "no contact"
		}
		switch {
		case i == 0:
			class += " self"
		case !n.Up:
			class += " lost"
		}
		p(`<g><title>%s, %d names</title><rect class="%s" x="%.0f" y="%.0f" width="110" height="44" rx="8"/>`, e(n.Identity), n.Names, class, at[i][0]-55, at[i][1]-22)
		p(`<text x="%.0f" y="%.0f">%s</text><text class="small" x="%.0f" y="%.0f">%s</text></g>`, at[i][0], at[i][1]-3, e(n.Node), at[i][0], at[i][1]+14, under)
	}
	b.WriteString("</svg>")
	return b.String()
}

// arc is the line of link k between two nodes: the first is straight, others are bent.
// mid becomes a place for its label.
func arc(from, to [2]float64, k int, mid *[2]float64) string {
	mx, my := (from[0]+to[0])/2, (from[1]+to[1])/2
	dx, dy := to[0]-from[0], to[1]-from[1]
	long := math.Max(math.Hypot(dx, dy), 1)
	bend := 70 * float64((k+1)/2)
	if k%2 == 1 {
		bend = -bend
	}
	cx, cy := mx-dy/long*bend, my+dx/long*bend
	if mid != nil {
		*mid = [2]float64{(mx+cx)/2 + dx*0.12, (my+cy)/2 + dy*0.12 - 6}
	}
	return fmt.Sprintf("M%.0f %.0fQ%.0f %.0f %.0f %.0f", from[0], from[1], cx, cy, to[0], to[1])
}
