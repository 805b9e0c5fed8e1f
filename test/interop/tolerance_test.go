// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"testing"
	"time"

	"github.com/utipc/utipc/stack/carrier/fault"
)

// The tolerance of a link that is up, set at either end, holds at both at once: both
// show it, and both notice in due time that the other is silent.
func TestToleranceFromEitherSide(t *testing.T) {
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // next to nothing to do but wait
			p := newPair(t, name, 1, 5*time.Minute)
			for _, set := range []struct {
				by        int
				tolerance time.Duration
				silence   bool // what follows
			}{
				{1, 5 * time.Second, true},
				{0, 400 * time.Millisecond, true},
				{0, 5 * time.Second, false},
				{1, 400 * time.Millisecond, true},
			} {
				p.ends[set.by].setTolerance(t, 0, set.tolerance)
				for k, s := range p.ends {
					p.until(func() bool { return s.links(t)[0].tolerance == set.tolerance }, "station %d shows %v", k, set.tolerance)
				}
				if set.silence {
					p.silence(set.tolerance)
				}
			}
		})
	}
}

// silence cuts the line until both ends have noticed.
func (p *pair) silence(tolerance time.Duration) {
	p.t.Helper()
	p.run(500 * time.Millisecond) // the timer that runs is of the old tolerance
	p.lines[0].Cut()
	cut := time.Now()
	var noticed [2]time.Duration
	p.until(func() bool {
		for k, s := range p.ends {
			if noticed[k] == 0 && s.linksUp() == 0 {
				noticed[k] = time.Since(cut)
			}
		}
		return noticed[0] > 0 && noticed[1] > 0
	}, "both ends have noticed")
	interval := min(tolerance/4, 500*time.Millisecond)
	p.t.Logf("tolerance %v: noticed after %v and %v; target %v to %v", tolerance, ms(noticed[0]), ms(noticed[1]),
		tolerance, tolerance+2*interval)
	for k, d := range noticed {
		// The other was heard last up to one interval before the cut. Late is a machine
		// that does other work as well: what is due is measured in simulation.
		if d < tolerance-interval || d > tolerance+2*interval+10*time.Second {
			p.t.Errorf("tolerance %v: station %d noticed after %v", tolerance, k, d)
		}
	}
	p.lines[0].Set(fault.Config{})
	p.contact()
}
