// SPDX-License-Identifier: Apache-2.0

// Package sheet is what the printed measurements have in common.
package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Median returns the middle of v, the mean of the two middle ones of an even number;
// 0 of none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	k := len(s) / 2
	if len(s)%2 == 1 {
		return s[k]
	}
	return (s[k-1] + s[k]) / 2
}

// Columns prints rows of cells, the first with the heads: the first and the last column
// to the left, the others to the right. Below a row stands its note, if that is not
// empty; rows count from 0 behind the heads.
func Columns(w io.Writer, cells [][]string, note func(row int) string) {
	width := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for k, row := range cells {
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			switch {
			case i == 0:
				fmt.Fprint(w, c, pad)
			case i == len(row)-1:
				fmt.Fprint(w, "  ", c)
			default:
				fmt.Fprint(w, "  ", pad, c)
			}
		}
		fmt.Fprintln(w)
		if k == 0 {
			continue
		}
		if n := note(k - 1); n != "" {
			fmt.Fprintf(w, "    %s\n", n)
		}
	}
}
