// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/utipc/utipc/test/bench/station"
)

// Write prints the report: the machine, the drivers, the table.
func (r *Report) Write(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d cores (used: %d and %d), %s, %s\n", m.CPU, m.Cores, m.Used[0], m.Used[1], m.Kernel, m.Go)
	fmt.Fprintf(w, "%s, %d rounds of %v in turn, ratios are medians of the rounds' ratios; took %v\n",
		r.Began.UTC().Format(time.RFC3339), r.Plan.Rounds, r.Plan.For, r.Took.Round(time.Second))
	fmt.Fprintf(w, "veth between two network namespaces, two processes, one core each where no other is said; TCP: cubic, NODELAY\n")
	if r.Nice != 0 {
		fmt.Fprintf(w, "all processes measured run at nice %d\n", r.Nice)
	}
	for _, line := range r.drivers() {
		fmt.Fprintf(w, "MTU %s\n", line)
	}
	fmt.Fprintf(w, "others used %.0f %% of the cores meanwhile\n", 100*r.Others)
	if r.Others > station.Busy {
		fmt.Fprintf(w, "WARNING: more than %.0f %%: the figures are doubtful%s\n", 100*station.Busy, r.advice())
	}
	fmt.Fprintln(w)
	writeLines(w, r.Lines)
}

// advice is how to measure on a busy machine.
func (r *Report) advice() string {
	if r.Nice < 0 {
		return "" // it was heeded
	}
	return "; --nice -15 would take the cores from the others"
}

// drivers says which was used on which MTU, and why.
func (r *Report) drivers() []string {
	found := map[string]bool{}
	for _, o := range r.Outcomes {
		if i := o.Infos[0]; i.Reason != "" {
			found[fmt.Sprintf("%5d  %s: %s", o.MTU, i.Driver, i.Reason)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
