// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// A damper keeps a link that comes and goes from being used: one that fails soon
// after it came up waits before it comes up again, each time twice as long. It is
// asked only where another link to the node works, so that it never delays contact.
type damper struct {
	at    time.Duration // when the link came up; while it is down, when it may come up again
	flaps int           // times in a row that it was up for less than dampSteady
}

const (
	dampSteady = 10 * time.Second // up for so long, a link is taken for good again
	dampFirst  = time.Second      // the first wait, after the second short life
	dampMost   = 16 * time.Second
)

func (d *damper) up(now time.Duration) { d.at = now }

func (d *damper) down(now time.Duration) {
	steady := now-d.at >= dampSteady
	d.at = now
	if steady {
		d.flaps = 0
		return
	}
	if d.flaps++; d.flaps >= 2 {
		d.at = now + min(dampFirst<<min(d.flaps-2, 8), dampMost)
	}
}

// waits reports whether the link, which is down, may not come up yet.
func (d *damper) waits(now time.Duration) bool { return now < d.at }
