// SPDX-License-Identifier: Apache-2.0

package link

import (
	"fmt"

	"github.com/utipc/utipc/test/sim"
)

// virtualRows are goodput beside no loss on the simulated link of 1 Gbit/s and 100 µs
// there and back, loss both ways: a table of package sim, made on the virtual clock, so
// that it is the same on every machine.
func virtualRows(p Plan) []Row {
	var rows []Row
	for _, g := range (sim.Size{Goodput: p.Flow}).TableOfGoodput() {
		if g.Loss == 0 {
			continue
		}
		for k, w := range sim.Windows {
			f := &g.Flows[k]
			r := Row{
				ID: fmt.Sprintf("virtual-%g-%d", 100*g.Loss, k), What: fmt.Sprintf("simulated link, %g %% lost, %s, beside no loss", 100*g.Loss, w.Name),
				Value: g.Beside[k], Notes: fmt.Sprintf("%.1f MB/s, %d resets", f.Goodput()/1e6, f.Resets),
			}
			if g.Targets[k] > 0 {
				r.Goal, r.Target = AtLeast, g.Targets[k]
			}
			if n := f.Violations() + f.Resets; n > 0 {
				r.Error = fmt.Sprintf("%d messages lost, doubled or reordered, %d resets", f.Violations(), f.Resets)
			}
			rows = append(rows, r)
		}
	}
	return rows
}
