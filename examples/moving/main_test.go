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
	// node 1001001 took the numbers 1 to 4000
	// node 1001002 took the numbers 4001 to 8000
	// node 1001003 took the numbers 8001 to 10000
	// the client found the service on 3 nodes
	// the service has 10000 numbers, their sum is 50005000
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := moving(t.Context(), stacktest.NewCluster(t, 4).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
