// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"testing"
	"time"
)

// A kernel that stops for less than the tolerance, with streams both ways, loses
// nothing, and no link. One that stops for longer loses contact, and what was under
// way: the links come back, nobody is stuck, nothing arrives twice or out of order,
// and new streams are whole.
//
// Proves: link.tolerance
func TestKernelStopped(t *testing.T) {
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			p := newPair(t, name, 1, 15*time.Minute)
			p.plan.Timeout = 5 * time.Second // much is lost, and not again
			kernel := p.ends[1].(*theirs)
			stopFor := func(d time.Duration) {
				must(t, kernel.guest.Stop())
				p.run(d)
				must(t, kernel.guest.Cont())
			}
			const pace = 2 * time.Millisecond
			both := func() []*stream { return []*stream{p.stream(0, 0, pace), p.stream(1, 0, pace)} }

			streams := both()
			stopFor(time.Second)
			for _, s := range streams {
				s.end()
			}
			for k, sum := range p.totals() {
				if sum.resets != 0 {
					t.Errorf("stopped for a second: station %d had %d resets", k, sum.resets)
				}
			}

			streams = both()
			must(t, p.tolerate(0, impatient))
			stopFor(4 * time.Second)
			resumed := time.Now()
			// How often it goes is the machine's business.
			p.until(func() bool { _, went := kernel.events(); return went >= 1 && kernel.linksUp() == 1 }, "the link went and came back")
			must(t, p.tolerate(0, patient))
			p.linksAre(1)
			t.Logf("contact %v after a stop of 4 s", ms(time.Since(resumed)))
			for _, s := range streams {
				sent := s.stop(t)
				r := s.report(t)
				t.Logf("from station %d: sent %+v, received %+v", s.from, sent, r.Verdict)
				if r.Doubled+r.Reordered+r.Corrupt > 0 {
					t.Errorf("from station %d, stopped for 4 s: %+v", s.from, r.Verdict)
				}
			}
			for _, s := range both() {
				p.run(200 * time.Millisecond)
				s.end()
			}
		})
	}
}
