// SPDX-License-Identifier: Apache-2.0

package poll

import "time"

// Limits of falseWakes.
const (
	quickWakes = 8                      // wake-ups without a frame, none of them calmPause after the one before, until a device is not listened to
	calmPause  = 100 * time.Millisecond // longer than longPause, so that a device whose pauses do not help stays under suspicion
	longPause  = 64 * time.Millisecond  // the longest that a device is not listened to
)

// A falseWakes watches a device whose descriptor ends sleeps although there is no frame.
// A descriptor that stays readable, as that of a broken interface, would keep the leader
// awake: after quickWakes in a row it is not listened to for a millisecond, and each time
// that was of no use for twice as long. The device is asked for frames after each pause,
// and a frame ends the suspicion.
//
// A wake-up now and then is no such thing: a datagram that the device drops (our own
// multicast that comes back, an empty one) makes its descriptor readable once.
type falseWakes struct {
	n     int           // in a row
	seen  int           // of these, at the last look
	at    time.Duration // of that look
	pause time.Duration // the last; 0: none yet
	deaf  time.Duration // until when the device is not listened to; 0: it is
}

// woke notes that the device ended a sleep. A frame that comes of it is told to came.
func (f *falseWakes) woke() { f.n++ }

// came notes that the device gave a frame.
func (f *falseWakes) came() {
	if f.n > 0 {
		*f = falseWakes{}
	}
}

// listens reports whether the device may end the sleep that begins now.
func (f *falseWakes) listens(now time.Duration) bool {
	if f.n == 0 {
		return true
	}
	if now < f.deaf {
		return false
	}
	f.deaf = 0
	if f.n > f.seen {
		if now-f.at >= calmPause {
			f.n, f.pause = 1, 0
		}
		f.at, f.seen = now, f.n
		if f.n >= quickWakes {
			f.n, f.seen = quickWakes-1, quickWakes-1 // one wake-up more is enough the next time
			f.pause = min(max(2*f.pause, Retry), longPause)
			f.deaf = now + f.pause
			return false
		}
	}
	return true
}
