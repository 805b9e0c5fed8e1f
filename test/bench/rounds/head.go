// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"maps"
	"slices"

	"github.com/utipc/utipc/test/bench/station"
)

// head is what stands above a table: the machine, how it was measured, the drivers.
func head(m station.Machine, o Options, outcomes []*Outcome, others float64) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%v, used: %d and %d", m, m.Used[0], m.Used[1])
	add("%d rounds of %v in turn, ratios are medians of the rounds' ratios", o.Plan.Rounds, o.Plan.For)
	add("veth between two network namespaces, two processes, one core each where no other is said; TCP: cubic, NODELAY")
	if o.Nice != 0 {
		add("all processes measured run at nice %d", o.Nice)
	}
	drivers := map[string]bool{}
	for _, out := range outcomes {
		if i := out.Infos[0]; i.Reason != "" {
			drivers[fmt.Sprintf("MTU %5d  %s: %s", out.MTU, i.Driver, i.Reason)] = true
		}
	}
	lines = append(lines, slices.Sorted(maps.Keys(drivers))...)
	add("others used %.0f %% of the cores meanwhile", 100*others)
	if others > station.Busy {
		advice := "; --nice -15 would take the cores from the others"
		if o.Nice < 0 {
			advice = "" // it was heeded
		}
		add("WARNING: more than %.0f %%: the figures are doubtful%s", 100*station.Busy, advice)
	}
	return lines
}
