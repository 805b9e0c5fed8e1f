// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// A wire takes frames one behind the other.
type wire struct {
	free time.Duration   // when the last has left
	ends []time.Duration // when each that waits has left, with a limit on their number
}

// wireExtra is what Ethernet adds to a frame: preamble, checksum and gap, in bytes.
const wireExtra = 24

// send returns how long a frame of n bytes takes; ok is false where there is no room
// for it.
func (w *wire) send(now time.Duration, c Wire, n int) (d time.Duration, ok bool) {
	if c.Rate == 0 {
		return c.Delay, true
	}
	if c.Queue > 0 {
		for len(w.ends) > 0 && w.ends[0] <= now {
			w.ends = w.ends[1:]
		}
		if len(w.ends) >= c.Queue {
			return 0, false
		}
	}
	bits := 8 * int64(max(n, minFrame)+wireExtra)
	w.free = max(w.free, now) + time.Duration(bits*int64(time.Second)/c.Rate)
	if c.Queue > 0 {
		w.ends = append(w.ends, w.free)
	}
	return w.free - now + c.Delay, true
}
