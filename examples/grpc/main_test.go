// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/utipc/utipc/stacktest"
)

func Example() {
	main()
	// Output:
	// check of "printer" at 18888:50051: SERVING
	// watch: SERVING
	// watch: NOT_SERVING
}

// The example leaves nothing open: package stacktest reports what it does.
//
// Mutation it catches: the client's connection, or the server, outlives the example.
//
// Proves: stacktest.examples
func TestLeavesNothingOpen(t *testing.T) {
	if err := checkHealth(t.Context(), stacktest.NewCluster(t, 2).Nodes()); err != nil {
		t.Error(err)
	}
}
