// SPDX-License-Identifier: Apache-2.0

package replay

import "time"

// Bounds of what a capture does not say. The captures of this project are of
// emulated machines on a busy host.
const (
	// ArrivesWithin is the longest a frame takes from where it was recorded to
	// the node.
	ArrivesWithin = 150 * time.Millisecond
	// AnswersWithin is the longest from what causes a frame to where that frame
	// is recorded (capture 20, frame 18: 133 ms).
	AnswersWithin = 250 * time.Millisecond
	// EarlyBy is how long before it is due a timer may seem to ring: the frame
	// that set it was recorded late.
	EarlyBy = 40 * time.Millisecond
)

// LateBy is how long after it is due a timer of an interval may seem to ring:
// 75 ms, and a fifth of the interval. A kernel rounds up to a grain that grows
// with the interval: 375 ms are 384, 2 s may be 2.3 (capture 01, frame 52). In
// capture 20 the machines stand still for a moment: 250 ms are 368 (frame 15).
func LateBy(interval time.Duration) time.Duration { return 75*time.Millisecond + interval/5 }

// rounded is what a kernel with 250 ticks a second makes of an interval, at
// least: a multiple of 4, 32, 256 … ms.
func rounded(interval time.Duration) time.Duration {
	grain := 4 * time.Millisecond
	for interval > 63*grain {
		grain *= 8
	}
	return (interval + grain - 1) / grain * grain
}
