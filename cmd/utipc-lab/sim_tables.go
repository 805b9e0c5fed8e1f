// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/utipc/utipc/test/sim"
)

// simTables is what a report prints.
type simTables struct {
	rows    []sim.Result
	goodput []sim.GoodputResult
}

// violations is how many there are; those of the clusters it prints.
func (t simTables) violations(out io.Writer) (n int) {
	for i := range t.rows {
		r := &t.rows[i]
		n += r.Violations()
		for _, v := range r.Clusters.Violations {
			fmt.Fprintf(out, "%s: %s\n", r.Name, v)
		}
		if k := r.Flow.Violations(); k > 0 {
			fmt.Fprintf(out, "%s: the flow: %+v\n", r.Name, r.Flow)
		}
	}
	for _, g := range t.goodput {
		for k := range g.Flows {
			n += g.Flows[k].Violations()
		}
	}
	return n
}

// cells are both tables, heads first.
func (t simTables) cells() (faults, goodput [][]string) {
	faults = [][]string{{"faults", "networks", "messages", "lost", "doubled", "reordered", "resets", "contacts", "with it", "goodput"}}
	for i := range t.rows {
		r := &t.rows[i]
		c, f := &r.Clusters, &r.Flow
		faults = append(faults, []string{
			r.Name, fmt.Sprint(r.Networks), fmt.Sprint(c.Messages + uint64(f.Delivered+f.Lost+f.LostWithContact)),
			fmt.Sprint(c.Lost + uint64(f.Lost)), fmt.Sprint(c.Doubled + uint64(f.Doubled)), fmt.Sprint(c.Reordered + uint64(f.Reordered)),
			fmt.Sprint(c.Resets - c.Left + uint64(f.Resets)), fmt.Sprint(c.LostContacts + uint64(f.LostContacts)),
			fmt.Sprint(c.LostAtReset + c.LostInCrash + uint64(f.LostWithContact)), fmt.Sprintf("%.3f", r.Goodput),
		})
	}
	head := []string{"loss both ways"}
	for _, w := range sim.Windows {
		head = append(head, w.Name)
	}
	goodput = [][]string{head}
	for _, g := range t.goodput {
		line := []string{fmt.Sprintf("%g %%", 100*g.Loss)}
		for k := range g.Flows {
			cell := fmt.Sprintf("%.3f", g.Beside[k])
			switch {
			case g.Loss == 0:
				cell += fmt.Sprintf(" (%.1f MB/s)", g.Flows[k].Goodput()/1e6)
			case g.Missed(k):
				cell += fmt.Sprintf(" (target %g: MISS)", g.Targets[k])
			case g.Targets[k] > 0:
				cell += fmt.Sprintf(" (target %g)", g.Targets[k])
			}
			line = append(line, cell)
		}
		goodput = append(goodput, line)
	}
	return faults, goodput
}

func (t simTables) text(out io.Writer) {
	for _, table := range t.both() {
		printColumns(out, table)
		fmt.Fprintln(out)
	}
}

// printColumns prints a table, the first column to the left and the others to the right.
func printColumns(out io.Writer, table [][]string) {
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, c := range line {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for _, line := range table {
		var b strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", widths[i]-len([]rune(c)))
			if i == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
}

func (t simTables) both() [][][]string {
	a, b := t.cells()
	return [][][]string{a, b}
}
