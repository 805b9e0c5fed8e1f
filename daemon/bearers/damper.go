// SPDX-License-Identifier: Apache-2.0

package bearers

import "time"

// When a carrier is held to come and go, and when to be steady again.
const (
	flapTimes  = 3               // losses
	flapWindow = 5 * time.Second // within which
	flapSteady = 1500 * time.Millisecond
)

// A damper decides when a carrier that comes and goes is no longer believed.
//
//	believed --(lost flapTimes within flapWindow)--> held --(no loss for flapSteady)--> believed
//
// The zero damper believes.
type damper struct {
	seen   bool
	index  int                      // of the interface that downs are of
	downs  uint32                   // losses that the interface counts
	losses [flapTimes]time.Duration // the last ones, the oldest first; 0: none
	holds  bool
	until  time.Duration
}

// see takes the interface's count of losses, and reports whether there were more.
func (d *damper) see(now time.Duration, downs uint32, index int) (lost bool) {
	n := downs - d.downs
	if !d.seen || index != d.index { // another interface begins another count
		n = 0
	}
	d.seen, d.index, d.downs = true, index, downs
	for range min(n, flapTimes) {
		copy(d.losses[:], d.losses[1:])
		d.losses[flapTimes-1] = max(now, 1)
	}
	if n > 0 && (d.holds || d.losses[0] > 0 && now-d.losses[0] <= flapWindow) {
		d.holds, d.until = true, now+flapSteady
	}
	return n > 0
}

// holding reports whether the carrier is not to be believed at now.
func (d *damper) holding(now time.Duration) bool {
	if d.holds && now >= d.until {
		d.holds, d.losses = false, [flapTimes]time.Duration{}
	}
	return d.holds
}
