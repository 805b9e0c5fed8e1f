// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"testing"
	"time"
)

// waitFor waits until ok is true, and fails the test when ended is closed before, or after
// the timeout.
func waitFor(t *testing.T, ended <-chan struct{}, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(timeout)
	for !ok() {
		select {
		case <-ended:
			t.Fatal("it has ended")
		case <-late:
			t.Fatalf("not within %v", timeout)
		case <-tick.C:
		}
	}
}
