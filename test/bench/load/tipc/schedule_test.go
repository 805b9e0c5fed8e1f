// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"testing"
	"time"
)

// Messages are due in bursts at their rate, and those that are late are nobody's:
// who was held up does not catch up.
func TestSchedule(t *testing.T) {
	s := newSchedule(1e6)
	if s.each != 1000 || s.burst != 20 {
		t.Fatalf("got %v ns, bursts of %d, want 1000, 20", s.each, s.burst)
	}
	s.begin = time.Now().Add(time.Hour) // all of it is to come
	for _, want := range []time.Duration{20, 40, 60} {
		if got := s.take(); got != want*time.Microsecond {
			t.Errorf("got a burst due at %v, want %vµs", got, int64(want))
		}
	}
	s.begin = time.Now().Add(-time.Hour) // held up
	s.take()
	if got := s.take(); got < time.Hour || got > 2*time.Hour {
		t.Errorf("held up for an hour: got a burst due at %v", got)
	}
	if s := newSchedule(10); s.burst != 1 {
		t.Errorf("ten a second: got bursts of %d", s.burst)
	}
}
