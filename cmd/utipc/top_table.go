// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// A table is rows under a head. It becomes narrower by leaving out columns.
type table struct {
	columns []column
	rows    [][]cell
	none    string // what is said where there are no rows
}

// A column is how the cells below each other are shown.
type column struct {
	head  string
	width int  // characters at least; the last column takes what is left, and is cut there
	left  bool // where the text stands
	spare int  // the column with the largest goes first where the screen is too narrow; 0 stays
}

// A cell is a text in a style.
type cell struct {
	text string
	style
}

// fit returns the columns that fit into so many characters, and how wide each is; 0 is as many as there are.
func (t *table) fit(width int) (shown, wide []int) {
	total := 0
	for i, c := range t.columns {
		w := max(c.width, len([]rune(c.head)))
		if i < len(t.columns)-1 {
			for _, r := range t.rows {
				w = max(w, len([]rune(r[i].text)))
			}
		}
		shown, wide = append(shown, i), append(wide, w)
		total += w + 1
	}
	for total-1 > width && width > 0 {
		worst := slices.MaxFunc(shown, func(a, b int) int { return t.columns[a].spare - t.columns[b].spare })
		if t.columns[worst].spare == 0 {
			break
		}
		total -= wide[worst] + 1
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == worst })
	}
	return shown, wide
}

// lines are the table in at most so many characters a line, with so many rows at most; 0 is any number of either. A row
// more says how many there are beyond.
func (t *table) lines(rows, width int, k ink) (out []string) {
	shown, wide := t.fit(width)
	line := func(cells func(i int) cell, whole style) {
		var b strings.Builder
		at := 0
		for n, i := range shown {
			c := cells(i)
			text, before, after := c.text, "", ""
			if pad := strings.Repeat(" ", max(0, wide[i]-len([]rune(text)))); !t.columns[i].left {
				before = pad
			} else if n < len(shown)-1 {
				after = pad
			}
			if n > 0 {
				before = " " + before
			}
			if width > 0 {
				before = cut(before, width-at)
				text = cut(text, width-at-len(before))
				after = cut(after, width-at-len(before)-len([]rune(text)))
			}
			at += len(before) + len([]rune(text)) + len(after)
			if whole == unmarked {
				text = k.mark(c.style, text)
			}
			b.WriteString(before + text + after)
		}
		text := b.String()
		if whole != unmarked && bool(k) {
			text = k.mark(whole, text+strings.Repeat(" ", max(0, width-at)))
		}
		out = append(out, strings.TrimRight(text, " "))
	}
	line(func(i int) cell { return cell{text: t.columns[i].head} }, reversed)
	some := fewer(len(t.rows), rows)
	for _, r := range t.rows[:some] {
		line(func(i int) cell { return r[i] }, unmarked)
	}
	switch {
	case len(t.rows) == 0:
		out = append(out, k.mark(dim, fitted(t.none, width)))
	case some < len(t.rows):
		out = append(out, k.mark(dim, fitted(more(len(t.rows)-some), width)))
	}
	return out
}

// fewer is have, or the limit where that is smaller and not 0.
func fewer(have, limit int) int {
	if limit > 0 && have > limit {
		return limit
	}
	return have
}

// fitted is cut, or s itself where the width is 0.
func fitted(s string, width int) string {
	if width == 0 {
		return s
	}
	return cut(s, width)
}

// share divides so many lines among tables that want so many each: none gets more than it wants, and
// each gets at least one.
func share(lines int, wants []int) []int {
	got := make([]int, len(wants))
	for i := range got {
		got[i] = 1
		lines--
	}
	for lines > 0 {
		given := false
		for i := range got {
			if lines > 0 && got[i] < wants[i] {
				got[i]++
				lines--
				given = true
			}
		}
		if !given {
			break
		}
	}
	return got
}
