// SPDX-License-Identifier: Apache-2.0

package link

import "testing"

// What is measured of the core passes messages, whole, without allocating.
func TestCore(t *testing.T) {
	for _, hold := range []bool{false, true} {
		c, err := measureCore(500, hold)
		if err != nil || c.send <= 0 || c.receive <= 0 || c.bestSend > c.send || c.loop <= 0 {
			t.Errorf("hold %v: got %+v, %v", hold, c, err)
		}
		if c.allocs > 0.01 { // of 16000 messages; the run time has its own
			t.Errorf("hold %v: %v allocations a message", hold, c.allocs)
		}
	}
}
