// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
)

// The picture's size, in characters, and how many nodes fit in it.
const (
	mapWidth, mapHeight = 78, 19
	mostDrawn           = 16
	mostInTable         = 100
)

// text is the map for a terminal.
func (v *mapView) text() string {
	var b strings.Builder
	if len(v.Nodes) <= mostDrawn {
		b.WriteString(v.draw())
	} else {
		b.WriteString(v.table())
	}
	fmt.Fprintf(&b, "\n%-9s %-33s %-5s %5s %s\n", "NODE", "identity", "state", "names", "its links")
	for i, n := range v.Nodes {
		state, told := "up", "told"
		if !n.Up {
			state = "down"
		}
		switch {
		case i == 0:
			told = "below"
		case !n.Told:
			told = n.Untold
		}
		fmt.Fprintf(&b, "%-9s %-33s %-5s %5d %s\n", n.Node, n.Identity, state, n.Names, told)
	}
	fmt.Fprintf(&b, "\n%-9s %-15s %-7s %4s %9s %6s %7s %s\n", "LINK TO", "bearer", "state", "prio", "tolerance", "retr%", "rtt", "resets")
	for _, l := range v.Links {
		fmt.Fprintf(&b, "%-9s %-15s %-7s %4d %7dms %6.2f %7s %d\n", l.To, l.Bearer, l.State, l.Priority, l.Tolerance, l.Loss, micros(l.RTT), l.Resets)
	}
	if len(v.Links) == 0 {
		b.WriteString("none\n")
	}
	for _, p := range v.Pairs {
		if !p.Both && v.told(p) {
			fmt.Fprintf(&b, "one-sided: %s and %s\n", p.A, p.B)
		}
	}
	return b.String()
}

// told reports whether both ends were asked for their links.
func (v *mapView) told(p mapPair) bool {
	i, j := v.index(p.a), v.index(p.b)
	return i >= 0 && j >= 0 && v.Nodes[i].Told && v.Nodes[j].Told
}

// draw is the nodes on an ellipse, with lines between those that have a link.
func (v *mapView) draw() string {
	page := make([][]rune, mapHeight)
	for i := range page {
		page[i] = []rune(strings.Repeat(" ", mapWidth))
	}
	at := v.places(mapWidth/2-8, mapHeight/2-1)
	line := func(i, j int, up bool) {
		if i < 0 || j < 0 {
			return
		}
		x, y := at[i][0]+mapWidth/2, at[i][1]+mapHeight/2
		dx, dy := at[j][0]-at[i][0], at[j][1]-at[i][1]
		stroke := '·'
		if up {
			stroke = slope(dx, dy)
		}
		steps := int(math.Max(math.Abs(dx), math.Abs(dy)))
		for k := 0; k <= steps; k++ {
			f := float64(k) / float64(max(1, steps))
			if !up && k%2 == 1 {
				continue
			}
			page[int(math.Round(y+dy*f))][int(math.Round(x+dx*f))] = stroke
		}
	}
	for _, p := range v.Pairs {
		line(v.index(p.a), v.index(p.b), p.Both || !v.told(p))
	}
	up := map[int]bool{}
	for _, l := range v.Links {
		i := v.index(l.to)
		up[i] = up[i] || l.State != "DEFUNCT"
	}
	for i := range v.Nodes {
		if on, own := up[i]; own {
			line(0, i, on)
		}
	}
	for i, n := range v.Nodes {
		label := []rune(" " + n.Node + " ")
		switch {
		case i == 0:
			label = []rune("[" + n.Node + "]")
		case !n.Up:
			label = []rune("(" + n.Node + ")")
		}
		x, y := int(math.Round(at[i][0]))+mapWidth/2-len(label)/2, int(math.Round(at[i][1]))+mapHeight/2
		copy(page[y][max(0, min(x, mapWidth-len(label))):], label)
	}
	var b strings.Builder
	for _, row := range page {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// slope is the stroke of a line. A character is about twice as high as wide.
func slope(dx, dy float64) rune {
	switch a := math.Abs(dy) / math.Max(math.Abs(dx), 1e-9); {
	case a < 0.2:
		return '─'
	case a > 2.5:
		return '│'
	case dx*dy > 0:
		return '╲'
	}
	return '╱'
}

// table is who has links to whom.
func (v *mapView) table() string {
	k := min(len(v.Nodes), mostInTable)
	cells := make([][]rune, k)
	for i := range cells {
		cells[i] = []rune(strings.Repeat("?", k))
		for j := range cells[i] {
			if i == j {
				cells[i][j] = '\\'
			} else if v.Nodes[i].Told || v.Nodes[j].Told {
				cells[i][j] = '.'
			}
		}
	}
	set := func(i, j, links int) {
		if i >= 0 && j >= 0 && i < k && j < k && links > 0 {
			cells[i][j], cells[j][i] = rune('0'+min(links, 9)), rune('0'+min(links, 9))
		}
	}
	own := map[int]int{}
	for _, l := range v.Links {
		if l.State != "DEFUNCT" {
			own[v.index(l.to)]++
		}
	}
	for i, links := range own {
		set(0, i, links)
	}
	for _, p := range v.Pairs {
		set(v.index(p.a), v.index(p.b), p.Links)
	}
	var b strings.Builder
	for i, row := range cells {
		fmt.Fprintf(&b, "%-9s %s\n", v.Nodes[i].Node, string(row))
	}
	if more := len(v.Nodes) - k; more > 0 {
		fmt.Fprintf(&b, "and %d more nodes\n", more)
	}
	return b.String()
}
