// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/test/sim"
)

// A flow at a loss delivers every message once and in order, the same in every run.
//
// Proves: link.goodput
func TestFlowDeliversAll(t *testing.T) {
	for _, networks := range []int{1, 2} {
		f := sim.Flow{Seed: 3, Networks: networks, Messages: 20_000}
		f.Faults.Everywhere(sim.NetworkFaults{Loss: 0.02, Reorder: 0.01, Places: 8, Duplicate: 0.01, Wire: sim.Gigabit})
		f.Faults.Net[0].Flap, f.Faults.Net[0].FlapFor = 100*time.Millisecond, 100*time.Millisecond
		r := f.Run()
		if networks == 2 && (r.Delivered != f.Messages || r.Violations() != 0) || r.Lost+r.Doubled+r.Reordered > 0 || r.Stuck {
			t.Errorf("%d networks: got %+v", networks, r)
		}
		if again := f.Run(); again != r {
			t.Errorf("%d networks: got %+v, then %+v", networks, r, again)
		}
	}
}

// A wire carries as much as its rate allows, with what Ethernet and the headers take.
//
// Proves: link.goodput
func TestFlowFillsTheWire(t *testing.T) {
	f := sim.Flow{Seed: 1, Messages: 20_000}
	f.Faults.Everywhere(sim.NetworkFaults{Wire: sim.Gigabit})
	r := f.Run()
	const perFrame = 14 + 24 + 1400 + 24 + 8 // Ethernet, header, data, what Ethernet adds; and the longer header
	if got, most := r.Goodput(), 125e6*1400/(perFrame-8); got > most || got < 0.97*125e6*1400/perFrame {
		t.Errorf("got %.1f MB/s, want nearly %.1f", got/1e6, most/1e6)
	}
}
