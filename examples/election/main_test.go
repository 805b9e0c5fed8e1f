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
	// three candidates: all say the leader is 1
	// 1 has stepped down: all say the leader is 2
	// 2 has left the cluster: all say the leader is 3
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := election(t.Context(), stacktest.NewCluster(t, 3).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
