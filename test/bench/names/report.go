// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"io"
	"time"

	"github.com/utipc/utipc/test/bench/bindings"
	"github.com/utipc/utipc/test/bench/sheet"
)

// A Row is one line of the table.
type Row = sheet.Row

// A Plan says how much is measured.
type Plan struct {
	Bound    uint32        // bindings of a table for look-ups, at most 100,000; a tenth of it around one point
	Lookups  int           // rounds of 16384 look-ups
	Binds    int           // of one range more, gone again
	Millions int           // ways in which a million bindings lie
	Each     uint32        // bindings of each of 100 nodes, at most 10,000
	Rounds   int           // of multicast
	For      time.Duration // of each measurement of a rate
	Names    int           // bound one after the other, to see how fast they are known
	Deaths   int           // of a node
}

// Plans.
var (
	Short = Plan{Bound: 100_000, Lookups: 200, Binds: 20_000, Millions: 3, Each: 10_000, Rounds: 5, For: 300 * time.Millisecond, Names: 200, Deaths: 2}
	Full  = Plan{Bound: 100_000, Lookups: 1000, Binds: 100_000, Millions: len(bindings.Millions()), Each: 10_000, Rounds: 11, For: time.Second, Names: 1000, Deaths: 5}
)

// A Report is all that a run has found.
type Report struct {
	Machine string        `json:"machine"`
	Plan    Plan          `json:"plan"`
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"took"`
	Rows    sheet.Rows    `json:"rows"`
}

func (r *Report) head() []string {
	return []string{
		r.Machine,
		fmt.Sprintf("%s, %d rounds of look-ups, %d of %v of multicast, %d names, %d deaths of a node; took %v",
			r.Began.UTC().Format(time.RFC3339), r.Plan.Lookups, r.Plan.Rounds, r.Plan.For, r.Plan.Names, r.Plan.Deaths, r.Took.Round(time.Second)),
	}
}

// Write prints the report in columns, and last how many targets were met.
func (r *Report) Write(w io.Writer) {
	for _, line := range r.head() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	r.Rows.Write(w)
}

// Markdown prints the report as a section of docs/figures.md.
func (r *Report) Markdown(w io.Writer) {
	fmt.Fprintf(w, "## Names\n\nPrinted by `utipc-lab bench names --markdown`; `utipc-lab bench names -h` says how each row is\nmeasured.\n\n")
	for _, line := range r.head() {
		fmt.Fprintf(w, "* %s\n", line)
	}
	fmt.Fprintln(w)
	r.Rows.Markdown(w)
}

// broken puts a reason into rows that could not be measured.
func broken(rows []Row, err error) []Row {
	for i := range rows {
		rows[i].Error = err.Error()
	}
	return rows
}

// Measured reports whether every row has a value.
func (r *Report) Measured() bool { return r.Rows.Measured() }
