// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

// A topLayout is how much room a picture has; 0 is any amount.
type topLayout struct {
	links, sockets, waits int // rows of each table
	width                 int // characters
	ink                   ink
}

// layout fills a screen of so many characters and lines, one of which is for others.
func (v *topView) layout(width, height int, k ink) topLayout {
	l := topLayout{1, 1, 1, width, k}
	const others = 2 + 3 + 1 // empty lines, heads of tables, the last line
	wants := []int{len(v.Links) + 1, len(v.Sockets) + 1, len(v.Waits) + 1}
	got := share(height-others-len(v.summary(l)), wants)
	for i, rows := range []*int{&l.links, &l.sockets, &l.waits} {
		*rows = got[i]
		if got[i] < wants[i] {
			*rows = max(1, got[i]-1) // and a line that says how many are left
		}
	}
	return l
}

// lines are the picture as text.
func (v *topView) lines(l topLayout) []string {
	out := v.summary(l)
	out = append(append(out, ""), v.linkTable().lines(l.links, l.width, l.ink)...)
	out = append(append(out, ""), v.socketTable().lines(l.sockets, l.width, l.ink)...)
	return append(append(out, ""), v.waitTable().lines(l.waits, l.width, l.ink)...)
}

// summary is what is said of the node as a whole.
func (v *topView) summary(l topLayout) []string {
	up := 0
	for i := range v.Links {
		if v.Links[i].State != "DEFUNCT" {
			up++
		}
	}
	node := fmt.Sprintf("node %s", v.Node)
	state := cell{fmt.Sprintf("links %d of %d up", up, len(v.Links)), good}
	if up < len(v.Links) {
		state.style = bad
	}
	out := []string{l.ink.mark(bold, node) + "  " + l.ink.mark(state.style, state.text) +
		fmt.Sprintf("  %s  over %s", v.Time.Format("15:04:05"), time.Duration(v.Seconds*float64(time.Second)).Round(time.Millisecond))}
	parts := []string{
		fmt.Sprintf("frames/s in %s out %s", human(v.FramesIn), human(v.FramesOut)),
		fmt.Sprintf("messages/s in %s out %s local %s", human(v.MessagesIn), human(v.MessagesOut), human(v.MessagesLocal)),
		fmt.Sprintf("chunks free %d of %d", v.ChunksFree, v.ChunksTotal),
		fmt.Sprintf("kept %s", human(float64(v.Kept))),
	}
	line := parts[0]
	for _, p := range parts[1:] {
		if l.width > 0 && len(line)+3+len(p) > l.width {
			out, line = append(out, line), p
		} else {
			line += "   " + p
		}
	}
	out = append(out, line)
	if v.Dropped == "" {
		return append(out, l.ink.mark(dim, "dropped nothing"))
	}
	return append(out, l.ink.mark(warning, fitted("dropped "+v.Dropped, l.width)))
}

func (v *topView) linkTable() *table {
	t := &table{none: "none: no other node is heard; 'utipc bearer list' tells how the bearers stand", columns: []column{
		{"LINK TO", 9, true, 0},
		{"bearer", 8, true, 0},
		{"state", 7, true, 0},
		{"in/s", 6, false, 0},
		{"out/s", 6, false, 0},
		{"retr%", 6, false, 0},
		{"nak/s", 6, false, 5},
		{"unack", 5, false, 3},
		{"wait", 5, false, 1},
		{"wrtrs", 5, false, 4},
		{"rtt", 7, false, 0},
		{"resets", 6, false, 2},
		{"last end", 8, true, 6},
	}}
	states := map[string]style{"ACTIVE": good, "STANDBY": "36", "DEFUNCT": bad}
	for i := range v.Links {
		r := &v.Links[i]
		t.rows = append(t.rows, []cell{
			{text: r.Peer},
			{text: r.Bearer},
			{r.State, states[r.State]},
			{text: human(r.In)},
			{text: human(r.Out)},
			{fmt.Sprintf("%.2f", r.Repeated), above(r.Repeated, 1, 5)},
			{text: human(r.Nacks)},
			{text: fmt.Sprint(r.Unacked)},
			{text: fmt.Sprint(r.Backlog)},
			{fmt.Sprint(r.Writers), above(float64(r.Writers), 0, 1e9)},
			{text: micros(r.RTT)},
			{text: fmt.Sprint(r.Resets)},
			{text: r.Ended},
		})
	}
	return t
}

func (v *topView) socketTable() *table {
	t := &table{none: "none: no program has a socket of this node", columns: []column{
		{"SOCKET", 20, true, 0},
		{"kind", 10, true, 2},
		{"in/s", 6, false, 0},
		{"out/s", 6, false, 0},
		{"B/s in", 6, false, 4},
		{"B/s out", 7, false, 5},
		{"queue", 6, false, 0},
		{"lost/s", 6, false, 0},
		{"blk%", 6, false, 0},
		{"name", 12, true, 1},
	}}
	for i := range v.Sockets {
		r := &v.Sockets[i]
		t.rows = append(t.rows, []cell{
			{text: r.Socket},
			{text: r.Kind},
			{text: human(r.In)},
			{text: human(r.Out)},
			{text: human(r.BytesIn)},
			{text: human(r.BytesOut)},
			{text: fmt.Sprint(r.Queued)},
			{human(r.Lost), above(r.Lost, 1e9, 0)},
			{fmt.Sprintf("%.1f", r.Blocked), above(r.Blocked, 50, 1e9)},
			{text: r.Name},
		})
	}
	return t
}

func (v *topView) waitTable() *table {
	t := &table{none: "none: every write finds room", columns: []column{
		{"WAITING", 20, true, 0}, {"to", 20, true, 2}, {"bytes", 8, false, 1}, {"for", 8, false, 0}, {"because", 40, true, 0},
	}}
	for i := range v.Waits {
		r := &v.Waits[i]
		t.rows = append(t.rows, []cell{
			{text: r.Socket}, {text: r.To}, {text: fmt.Sprint(r.Bytes)}, {time.Duration(r.Seconds * float64(time.Second)).Round(time.Millisecond).String(), above(r.Seconds, 1, 10)}, {text: r.Reason},
		})
	}
	return t
}

// above is the style of a figure: worth a look above the first limit, bad above the second.
func above(x, look, wrong float64) style {
	switch {
	case x > wrong:
		return bad
	case x > look:
		return warning
	}
	return unmarked
}

// more tells how many rows are not shown.
func more(k int) string { return fmt.Sprintf("and %d more", k) }

// human is a number in at most six characters: 0, 12.5, 999, 1.2k, 34M.
func human(x float64) string {
	if x < 999.5 {
		switch {
		case x == 0:
			return "0"
		case x < 99.95:
			return fmt.Sprintf("%.1f", x)
		}
		return fmt.Sprintf("%.0f", x)
	}
	for _, unit := range "kMGTPE" {
		if x /= 1000; x < 999.5 {
			if x < 9.95 {
				return fmt.Sprintf("%.1f%c", x, unit)
			}
			return fmt.Sprintf("%.0f%c", x, unit)
		}
	}
	return "much"
}

// micros is a round trip's time; 0 is one that is not known.
func micros(us float64) string {
	switch {
	case us == 0:
		return "-"
	case us < 10000:
		return fmt.Sprintf("%.0fus", us)
	}
	return fmt.Sprintf("%.0fms", us/1000)
}
