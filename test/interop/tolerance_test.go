// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"testing"
	"time"

	"github.com/utipc/utipc/stack/carrier/fault"
)

// The tolerance of a link that is up, set at either end, holds at both at once: both
// show it, and both notice by it that the other is silent.
//
// Proves: link.tolerance
func TestToleranceFromEitherSide(t *testing.T) {
	const (
		most  = 30 * time.Second
		long  = 8 * time.Second
		short = 400 * time.Millisecond
	)
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // next to nothing to do but wait
			p := newPair(t, name, 1, 15*time.Minute)
			set := func(by int, d time.Duration) {
				must(t, p.ends[by].setTolerance(0, d))
				p.tolerance(d)
			}
			set(1, long)
			// Either may have been silent for a while before the line was cut.
			if d := p.silence(long); min(d[0], d[1]) < long/2 {
				t.Errorf("tolerance %v: noticed after %v", long, d)
			}
			p.lines[0].Set(fault.Config{})
			for by := range p.ends {
				p.contact()
				set(by, most)
				set(by, short)
				if d := p.silence(short); max(d[0], d[1]) > most*9/10 {
					t.Errorf("tolerance %v: noticed after %v, as if it were %v still", short, d, most)
				}
				// One that stands still for so short a time loses the link: it is not told of
				// the tolerance then.
				must(t, p.tolerate(0, patient))
				p.lines[0].Set(fault.Config{})
				p.tolerance(patient)
			}
		})
	}
}

// tolerance waits until both ends show that the link has it.
func (p *pair) tolerance(d time.Duration) {
	p.t.Helper()
	for k, s := range p.ends {
		p.until(func() bool { return s.links(p.t)[0].tolerance == d }, "station %d shows %v", k, d)
	}
}

// silence cuts the line until both ends have noticed, and returns how long that took.
func (p *pair) silence(tolerance time.Duration) (noticed [2]time.Duration) {
	p.t.Helper()
	p.run(500 * time.Millisecond) // the timer that runs is of the old tolerance
	cut := time.Now()
	p.lines[0].Cut()
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
	return noticed
}
