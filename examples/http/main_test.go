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
	// GET http://18888-80.tipc/greet/alice: 200 OK, hello, alice
	// GET http://18888-80.tipc/greet/bob: 200 OK, hello, bob
	// POST http://18888-80.tipc/count: 200 OK, 1048576 bytes
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := serveAndAsk(t.Context(), stacktest.NewCluster(t, 2).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
