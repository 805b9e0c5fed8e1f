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
	// node 1001002, over a connection to 18888:17: hello, stream
	// node 1001002, from node 1001001: hello, datagram
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: a socket, or a call of a goroutine, that outlives the example.
//
// Proves: stacktest.examples
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := echo(t.Context(), stacktest.NewCluster(t, 2).Nodes()); err != nil {
			t.Error(err)
		}
	})
}
