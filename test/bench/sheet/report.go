// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"io"
	"time"
)

// A Report is all that a run has found.
type Report struct {
	Name  string        `json:"name"`  // utipc-lab bench NAME
	Title string        `json:"title"` // of its section in docs/explanation/figures.md
	Head  []string      `json:"head"`  // lines: the machine, how much was measured
	Plan  any           `json:"plan,omitempty"`
	Began time.Time     `json:"began"`
	Took  time.Duration `json:"took"`
	Rows  Rows          `json:"rows"`
	// Outcomes are what the rows were made of, where that is kept.
	Outcomes any `json:"outcomes,omitempty"`
}

func (r *Report) head() []string {
	return append(r.Head[:len(r.Head):len(r.Head)], fmt.Sprintf("%s, took %v", r.Began.UTC().Format(time.RFC3339), r.Took.Round(time.Second)))
}

// Write prints the report in columns, and last how many targets were met.
func (r *Report) Write(w io.Writer) {
	for _, line := range r.head() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	r.Rows.Write(w)
}

// Markdown prints the report as a section of docs/explanation/figures.md.
func (r *Report) Markdown(w io.Writer) {
	fmt.Fprintf(w, "## %s\n\nPrinted by `utipc-lab bench %s --markdown`; `utipc-lab bench %[2]s -h` says how each row is\nmeasured.\n\n", r.Title, r.Name)
	for _, line := range r.head() {
		fmt.Fprintf(w, "* %s\n", line)
	}
	fmt.Fprintln(w)
	r.Rows.Markdown(w)
}
