// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Each duplicate is said once a second, beside others, and a flood of them is bounded.
// Mutations: due does not compare the claim; it overwrites what was said within the second.
func TestConflictsSaid(t *testing.T) {
	var a conflictsSaid
	claim := func(i byte) Claim { return Claim{Station: frame.MAC{2, 0, 0, 0, 0, i}, Own: -1} }
	for _, c := range []struct {
		at      time.Duration
		node    frame.NodeAddr
		station byte
		want    bool
	}{
		{0, 1, 1, true},
		{0, 1, 1, false},
		{0, 1, 2, true},
		{0, 2, 1, true},
		{time.Second - 1, 1, 2, false},
		{time.Second, 1, 1, true},
		{time.Second, 1, 1, false},
	} {
		if got := a.due(c.at, c.node, claim(c.station)); got != c.want {
			t.Errorf("%v: node %d from station %d: got %v, want %v", c.at, c.node, c.station, got, c.want)
		}
	}
	said := 0
	for i := range 200 {
		if a.due(time.Minute, 3, claim(byte(i))) {
			said++
		}
	}
	if said != len(a) {
		t.Errorf("%d of 200 at once were said, want %d", said, len(a))
	}
}
