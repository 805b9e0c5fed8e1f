// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"fmt"
	"io"
	"strings"

	"github.com/utipc/utipc/test/bench/sheet"
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
	sheet.Columns(w, cells, func(row int) string {
		if l := lines[row]; l.Error != "" {
			return "error: " + strings.ReplaceAll(l.Error, "\n", "; ")
		}
		return lines[row].Notes
	})
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
