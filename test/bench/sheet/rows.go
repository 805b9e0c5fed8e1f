// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"io"
	"strings"
)

// Rows are a table of values and targets.
type Rows []Row

func (rows Rows) cells() [][]string {
	cells := [][]string{{"what", "value", "target", ""}}
	for i := range rows {
		cells = append(cells, rows[i].cells())
	}
	return cells
}

// tally counts targets.
func (rows Rows) tally() string {
	met, judged := 0, 0
	for i := range rows {
		if x := &rows[i]; x.Goal != Printed || x.Error != "" {
			judged++
			if x.Met() {
				met++
			}
		}
	}
	return fmt.Sprintf("%d of %d targets met", met, judged)
}

// Measured reports whether every row has a value.
func (rows Rows) Measured() bool {
	for i := range rows {
		if rows[i].Error != "" {
			return false
		}
	}
	return true
}

// Write prints the rows in columns, and last how many targets were met.
func (rows Rows) Write(w io.Writer) {
	Columns(w, rows.cells(), func(row int) string { return rows[row].note() })
	fmt.Fprintln(w, rows.tally())
}

// Markdown prints the rows as a table of docs/figures.md, and how many targets were met.
func (rows Rows) Markdown(w io.Writer) {
	fmt.Fprintf(w, "| what | value | target | | notes |\n|---|---:|---:|---|---|\n")
	cells := rows.cells()[1:]
	for i := range rows {
		fmt.Fprintf(w, "| %s | %s |\n", strings.Join(cells[i], " | "), rows[i].note())
	}
	fmt.Fprintf(w, "\n%s\n", rows.tally())
}
