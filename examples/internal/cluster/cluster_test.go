// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"testing"

	"github.com/utipc/utipc/stack"
)

// An example begins when each of its nodes is in contact with all others.
//
// Mutation it catches: open does not wait.
func TestOpenWaitsForContact(t *testing.T) {
	const count = 4
	nodes, err := open(t.Context(), count)
	defer func() {
		for _, n := range nodes {
			n.Close(context.Background())
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		names, err := n.Admin().Names(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, name := range names {
			if name.Range.Type == stack.NodeState {
				known++
			}
		}
		if known != count {
			t.Errorf("node %v knows %d nodes, want %d", n.Addr(), known, count)
		}
	}
}
