// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"

	"github.com/utipc/utipc/stack/engine"
)

// A call that does more than mostWork units is reported, once, with what it did; the next begins
// anew.
//
// Mutations: did does not bark, or barks with every unit beyond; begin does not reset the count.
//
// Proves: socket.simulated
func TestWatchdog(t *testing.T) {
	var barked []string
	d := watchdog{bark: func(format string, args ...any) { barked = append(barked, fmt.Sprintf(format, args...)) }}
	for range 2 { // two calls, each of which does half
		d.begin()
		d.did(engine.WorkFrames, mostWork/2)
	}
	d.begin()
	d.did(engine.WorkSends, mostWork)
	if len(barked) != 0 {
		t.Errorf("within the limit: %q", barked)
	}
	for range 3 {
		d.did(engine.WorkFrames, 1)
	}
	want := fmt.Sprintf("a call does more than %d units of work: 1 %v %d %v", mostWork, engine.Work(engine.WorkFrames), mostWork, engine.Work(engine.WorkSends))
	if len(barked) != 1 || barked[0] != want {
		t.Errorf("got %q, want %q", barked, want)
	}
}
