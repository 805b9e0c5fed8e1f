// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"testing"
	"time"
)

// Attempts come quickly at first, then at most every half second, and never two at once in step.
//
// Mutations: pause that does not double; without chance; without lastPause.
//
// Proves: daemon.dies
func TestBackoff(t *testing.T) {
	var early, late backoff
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 320, 500, 500} {
		if got := early.pause(0); got != want*time.Millisecond {
			t.Errorf("got %v, want %v", got, want*time.Millisecond)
		}
		if got := late.pause(1); got != want*time.Millisecond/2 {
			t.Errorf("at the other end: got %v, want %v", got, want*time.Millisecond/2)
		}
	}
}
