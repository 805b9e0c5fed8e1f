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
	// 12 jobs are done by 2 workers; one left without doing any
	// 0² + 1² + ... + 11² = 506
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := workqueue(t.Context(), stacktest.NewCluster(t, 4).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
