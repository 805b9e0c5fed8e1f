// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"testing/synctest"

	"github.com/utipc/utipc/stacktest"
)

func Example() {
	main()
	// Output:
	// 20 jobs are done, and 2 workers died
	// 0² + 1² + ... + 19² = 2470
}

// All jobs are done though workers die, in virtual time too, and nothing is left open.
//
// Mutations it catches: do does not give out a job again that came back; a worker acknowledges a
// job before it is done and the queue does not learn of its end.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := demo(t.Context(), stacktest.NewCluster(t, 4).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
