// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"testing"
	"time"
)

// Fails when a refused frame is offered for ever (refused never reports true), when the
// tries or the time alone decide, or when a frame that was taken forgets nothing.
func TestFrameRefusals(t *testing.T) {
	const ms = time.Millisecond
	var r refusals
	start := time.Unix(0, 0)
	step := func(at time.Duration, size int, want bool) {
		t.Helper()
		if got := r.refused(start.Add(at), size); got != want {
			t.Errorf("a frame of %d bytes refused at %v: got %v, want %v", size, at, got, want)
		}
	}
	for i := range refusalTries - 1 {
		step(time.Duration(i)*100*ms, 2500, false) // seldom offered: the tries decide
	}
	step(900*ms, 2500, true)
	step(900*ms, 2500, true)  // one as long, at once
	step(900*ms, 3000, true)  // and one longer
	step(900*ms, 1000, false) // a shorter one is given time
	r.took(1000)
	step(901*ms, 2500, true) // that a shorter one was taken says nothing of long ones
	r.took(2500)
	if !r.none() {
		t.Errorf("after a frame of that length was taken: got %+v, want nothing known", r)
	}
	for i := range 50 {
		step(1000*ms+time.Duration(i)*ms, 2500, false) // often offered: the time decides
	}
	step(1050*ms, 2500, true)
	for range refusalTries + 1 {
		step(1050*ms, 60, false)
	}
	step(1100*ms, 60, true)
	step(1100*ms, 60, true) // whatever the length now
}
