// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Rows are a table of values and targets.
type Rows []Row

// ratios reports whether a row is one.
func (rows Rows) ratios() bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Beside != "" })
}

func (rows Rows) cells() [][]string {
	ratios := rows.ratios()
	cells := [][]string{heads(ratios)}
	for i := range rows {
		cells = append(cells, rows[i].cells(ratios))
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
	return !slices.ContainsFunc(rows, func(r Row) bool { return r.Error != "" })
}

// Break puts a reason into rows that could not be measured, and returns them.
func (rows Rows) Break(err error) Rows {
	for i := range rows {
		rows[i].Error = err.Error()
	}
	return rows
}

// Write prints the rows in columns, and last how many targets were met.
func (rows Rows) Write(w io.Writer) {
	Columns(w, rows.cells(), func(row int) string { return rows[row].note() })
	fmt.Fprintln(w, rows.tally())
}

// Markdown prints the rows as a table of docs/explanation/figures.md, and how many targets were met.
func (rows Rows) Markdown(w io.Writer) {
	cells := rows.cells()
	fmt.Fprintf(w, "| %s | notes |\n|---%s|---|---|\n", strings.Join(cells[0], " | "), strings.Repeat("|---:", len(cells[0])-2))
	for i, c := range cells[1:] {
		fmt.Fprintf(w, "| %s | %s |\n", strings.Join(c, " | "), rows[i].note())
	}
	fmt.Fprintf(w, "\n%s\n", rows.tally())
}
