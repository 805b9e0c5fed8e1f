// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"time"
)

// A node of this implementation serves its timers when they are due, all of them, after the frames
// that have arrived by then. Its clock is read once in a poll, so that a frame may be recorded a
// little before the time at which the engine takes it to be sent.

// OwnEarlyBy is how long before it is due a timer of a node of this implementation may seem to ring.
const OwnEarlyBy = 5 * time.Millisecond

// serveOwn serves all timers that are due by a time.
func (r *run) serveOwn(at time.Duration) {
	for r.eng != nil && r.eng.Deadline() <= at {
		r.clock(r.eng.Deadline())
		r.eng.HandleTimeout(r.now)
		r.collect()
	}
}

// ringOwn serves the timer that a frame must come from; why says why that cannot be.
func (r *run) ringOwn(f *Frame) (why string) {
	due := r.eng.Deadline()
	if due > f.At+OwnEarlyBy {
		return fmt.Sprintf("it was sent, and we send nothing; our next timer is due %v later", (due - f.At).Round(time.Microsecond))
	}
	r.stats.timers++
	r.stats.latest = max(r.stats.latest, f.At-due)
	r.serveOwn(due)
	return ""
}
