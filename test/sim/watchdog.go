// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/utipc/utipc/stack/engine"
)

// A watchdog sees to it that no call of an engine, and no poll, does more than a fixed number of
// units of work: in a real node everybody else would wait for its lock meanwhile.
type watchdog struct {
	bark func(format string, args ...any)
	done [engine.WorkKinds]int // since the call began
	all  int
}

// mostWork is the units of one call, or poll; see also package stack, which counts its own.
const mostWork = 1 << 14

// did is what engines tell of their work.
func (d *watchdog) did(kind engine.Work, k int) {
	d.done[kind] += k
	if d.all += k; d.all > mostWork && d.all-k <= mostWork {
		s := ""
		for kind, k := range d.done {
			if k > 0 {
				s += fmt.Sprintf(" %d %v", k, engine.Work(kind))
			}
		}
		d.bark("a call does more than %d units of work:%s", mostWork, s)
	}
}

// begin is called when a call of the engine, or a poll, begins.
func (d *watchdog) begin() { d.done, d.all = [engine.WorkKinds]int{}, 0 }
