// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/test/sim"
)

// The shortest and the longest tolerance, on two networks that lose frames.
//
// Proves: link.tolerance
func TestToleranceFromShortestToLongest(t *testing.T) {
	for _, tolerance := range []time.Duration{50 * time.Millisecond, 400 * time.Millisecond, 5 * time.Second, 30 * time.Second} {
		f := sim.Perfect()
		f.Tolerance = tolerance
		f.Net[0], f.Net[1] = sim.NetworkFaults{Loss: 0.01}, sim.NetworkFaults{Loss: 0.01}
		for seed := range uint64(3) {
			r := sim.Run(sim.Config{Seed: seed + 1, Faults: &f, Duration: 4 * time.Second})
			for _, v := range r.Violations {
				t.Errorf("tolerance %v: %s", tolerance, v)
			}
			if r.Messages == 0 {
				t.Errorf("tolerance %v, seed %d: no message was sent", tolerance, seed+1)
			}
		}
	}
}
