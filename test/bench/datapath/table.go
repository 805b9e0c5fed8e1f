// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeLines prints the lines in columns, and last how many targets were met.
func writeLines(w io.Writer, lines []Line) {
	cells := [][]string{{"what", "ours", "beside", "ratio", "(min..max)", "target", ""}}
	for _, l := range lines {
		c := []string{l.What, l.Ours, l.Beside, "", "", l.Target, l.Verdict()}
		switch {
		case l.Error != "":
			c[1], c[2] = "-", "-"
		case l.Beside != "-":
			c[3] = fmt.Sprintf("%.2f", l.Ratio.Median)
			c[4] = fmt.Sprintf("(%.2f..%.2f)", l.Ratio.Min, l.Ratio.Max)
		}
		cells = append(cells, c)
	}
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
		if l := lines[k-1]; l.Error != "" {
			fmt.Fprintf(w, "    error: %s\n", strings.ReplaceAll(l.Error, "\n", "; "))
		} else if l.Notes != "" {
			fmt.Fprintf(w, "    %s\n", l.Notes)
		}
	}
	met, judged := 0, 0
	for _, l := range lines {
		if l.Judged {
			judged++
			if l.Met {
				met++
			}
		}
	}
	fmt.Fprintf(w, "%d of %d targets met\n", met, judged)
}
