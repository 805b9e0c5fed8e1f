// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A ladder's line:
//
//	   61    1.021000  │═════ data 8888:1 900B seq 14 ack 1 ═════▶│ again, of 35
//	|- gutter -------||- lanes ----------------------------------|| notes --------|
//
// With two nodes the words stand on the arrow. With more the arrows are shorter, and the
// words stand among the notes where they do not fit.
const (
	ladderGutter   = 22
	twoNotes       = 28 // room for notes with two nodes
	moreNotes      = 30 // and with more, at least
	leastLane      = 12
	mostLane       = 40
	leastLadder    = 72
	mostLadder     = 400
	defaultLadder  = 100
	othersOnLadder = "others"
	shortfall      = 4 // of the arrow of what was not received
)

// pens are what arrows are drawn with.
type pens struct {
	lane, line, again, link, left, right, all, own, missed rune
	more                                                   string
}

var (
	finePens  = pens{'│', '─', '═', '┄', '◀', '▶', '●', '○', '✕', "…"}
	asciiPens = pens{'|', '-', '=', '.', '<', '>', '*', 'o', 'x', "~"}
)

func (l *ladder) pens() *pens {
	if l.ascii {
		return &asciiPens
	}
	return &finePens
}

// columns returns how many lanes are drawn, how far they are apart, and what is left
// for notes.
func (l *ladder) columns() (lanes, apart, notes int) {
	lanes = max(2, len(l.lanes))
	left := l.width - len(l.prefix) - ladderGutter
	if lanes == 2 {
		apart = left - twoNotes - 2
		return 2, apart, twoNotes
	}
	lanes = min(lanes, max(2, (left-moreNotes)/leastLane+1))
	apart = min(mostLane, max(leastLane, (left-moreNotes)/(lanes-1)))
	return lanes, apart, left - apart*(lanes-1) - 2
}

// lane is the column of a node; nodes for which there is no room share the last.
func (l *ladder) lane(a frame.NodeAddr, lanes int) int {
	i, _ := slices.BinarySearch(l.lanes, a)
	return min(i, lanes-1)
}

// head prints the nodes above their columns, and what the arrows mean.
func (l *ladder) head() {
	lanes, apart, _ := l.columns()
	p := l.pens()
	if !l.headed {
		fmt.Fprintf(l.out, "%s%c%c new  %c%c again  %c%c of the links  %c not received  %c to all  %c own\n",
			l.prefix, p.line, p.line, p.again, p.again, p.link, p.link, p.missed, p.all, p.own)
	}
	l.headed = true
	row := []rune(strings.Repeat(" ", ladderGutter+apart*(lanes-1)+20))
	for i := range lanes {
		name := ""
		switch {
		case i == lanes-1 && len(l.lanes) > lanes:
			name = othersOnLadder
		case i < len(l.lanes):
			name = l.lanes[i].String()
		}
		at := ladderGutter
		if i > 0 {
			at += i*apart - len(name)/2
		}
		copy(row[at:], []rune(name))
	}
	copy(row, []rune(fmt.Sprintf("%9s %10s", "frame", "s")))
	fmt.Fprintf(l.out, "%s%s\n", l.prefix, strings.TrimRight(string(row), " "))
}

// line draws one rung.
func (l *ladder) line(r *rung) string {
	lanes, apart, notes := l.columns()
	p := l.pens()
	cells := []rune(strings.Repeat(" ", apart*(lanes-1)+1))
	for i := range lanes {
		cells[i*apart] = p.lane
	}
	pen := p.line
	switch {
	case r.again:
		pen = p.again
	case r.label.link:
		pen = p.link
	}
	from, to := l.lane(r.from, lanes), l.lane(r.to, lanes)
	side := 1 // of the sender on which the words stand
	switch {
	case r.to != 0 && r.from == r.to: // it stays within the node
		cells[from*apart] = p.own
	case r.to != 0 && from == to: // both share the last lane
		cells[from*apart] = p.all
	case r.to != 0:
		l.arrow(cells, from*apart, to*apart, pen, r.missed)
		if to < from {
			side = -1
		}
	default: // to all: an arrow to each side
		if from > 0 {
			l.arrow(cells, from*apart, 0, pen, r.missed)
		}
		if from < lanes-1 {
			l.arrow(cells, from*apart, (lanes-1)*apart, pen, r.missed)
		} else {
			side = -1
		}
		for i := range lanes {
			if i < from && !r.missed {
				cells[i*apart+1] = p.left
			}
			if i > from && !r.missed {
				cells[i*apart-1] = p.right
			}
		}
		cells[from*apart] = p.all
	}
	low, high := min(from, from+side)*apart, max(from, from+side)*apart
	switch {
	case high > (lanes-1)*apart || low < 0: // to itself
		low, high = 0, 0
	case slices.Contains(cells[low:high], p.missed) && side > 0:
		high -= shortfall
	case slices.Contains(cells[low:high], p.missed):
		low += shortfall
	}
	kind, number := r.words()
	var said []string
	switch {
	case l.words(cells, low, high, strings.TrimSuffix(kind+" "+number, " ")):
	case l.words(cells, low, high, kind):
		said = append(said, number)
	default:
		said = append(said, strings.TrimSuffix(kind+" "+number, " "))
	}
	said = slices.DeleteFunc(append(said, r.notes...), func(s string) bool { return s == "" })
	return l.finish(r, cells, strings.Join(said, ", "), notes)
}

// finish puts the frame's number and time before the arrow, and what is said behind it.
func (l *ladder) finish(r *rung, cells []rune, said string, notes int) string {
	if k := []rune(said); len(k) > notes {
		said = string(k[:max(0, notes-1)]) + l.pens().more
	}
	frames := fmt.Sprint(r.first)
	if r.last != r.first {
		frames = fmt.Sprintf("%d-%d", r.first, r.last)
	}
	return strings.TrimRight(fmt.Sprintf("%9s %11.6f %s %s", frames, r.at, string(cells), said), " ")
}

// arrow draws from one column to another.
func (l *ladder) arrow(cells []rune, from, to int, pen rune, missed bool) {
	p := l.pens()
	step, head := 1, p.right
	if to < from {
		step, head = -1, p.left
	}
	end := to
	if missed { // it ends before it is there
		end, head = to-shortfall*step, p.missed
	}
	for i := from + step; i != end; i += step {
		if cells[i] != p.lane {
			cells[i] = pen
		}
	}
	cells[end-step] = head
}

// words puts a text in the middle between two columns, if there is room for it.
func (l *ladder) words(cells []rune, low, high int, text string) bool {
	w := []rune(" " + text + " ")
	room := high - low - 1
	if text == "" || room <= 0 || len(w)+2 > room || slices.Contains(cells[low+1:high], l.pens().lane) {
		return false
	}
	copy(cells[low+1+(room-len(w))/2:], w)
	return true
}

// speaksUTF8 reports whether the environment says that a terminal shows UTF-8.
func speaksUTF8() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
