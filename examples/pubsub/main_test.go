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
	// farmer, topics 100-100: ["rain at noon"]
	// sailor, topics 100-199: ["rain at noon" "a storm from the west"]
	// editor, topics 0-999: ["rain at noon" "a storm from the west" "the home team wins"]
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := pubsub(t.Context(), stacktest.NewCluster(t, 3).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
