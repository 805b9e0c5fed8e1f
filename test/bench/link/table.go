// SPDX-License-Identifier: Apache-2.0

package link

import (
	"fmt"
	"io"
	"time"

	"github.com/utipc/utipc/test/bench/sheet"
)

// A Report is all that a run has found.
type Report struct {
	Machine string        `json:"machine"`
	Plan    Plan          `json:"plan"`
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"took"`
	Rows    sheet.Rows    `json:"rows"`
}

// A Plan says how long is measured.
type Plan struct {
	Rounds    int           // of loss and of long messages
	For       time.Duration // of each measurement of a rate
	Failovers int           // rounds of each way to lose a bearer
	Flow      int           // messages of each simulated flow
	Batches   int           // of messages, for the core
}

// Plans.
var (
	Short = Plan{Rounds: 5, For: 300 * time.Millisecond, Failovers: 4, Flow: 100_000, Batches: 20_000}
	Full  = Plan{Rounds: 7, For: time.Second, Failovers: 8, Flow: 1_000_000, Batches: 100_000}
)

// idle is what this program cannot measure.
const idle = "go test -run '^$' -bench Idle ./stack/engine"

func (r *Report) head() []string {
	return []string{
		r.Machine,
		fmt.Sprintf("%s, %d rounds of %v, %d failovers of each kind, %d messages of each simulated flow; took %v",
			r.Began.UTC().Format(time.RFC3339), r.Plan.Rounds, r.Plan.For, r.Plan.Failovers, r.Plan.Flow, r.Took.Round(time.Second)),
	}
}

// Write prints the report in columns, and last how many targets were met.
func (r *Report) Write(w io.Writer) {
	for _, line := range r.head() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "what an idle endpoint takes and costs: %s\n\n", idle)
	r.Rows.Write(w)
}

// Markdown prints the report as a section of docs/figures.md.
func (r *Report) Markdown(w io.Writer) {
	fmt.Fprintf(w, "## The link\n\nPrinted by `utipc-lab bench link --markdown`; `utipc-lab bench link -h` says how each row is\n")
	fmt.Fprintf(w, "measured. What an idle endpoint takes and costs: `%s`.\n\n", idle)
	for _, line := range r.head() {
		fmt.Fprintf(w, "* %s\n", line)
	}
	fmt.Fprintln(w)
	r.Rows.Markdown(w)
}

// Measured reports whether every row has a value.
func (r *Report) Measured() bool { return r.Rows.Measured() }
