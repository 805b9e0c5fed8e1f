// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/engine"
)

// What the engine does in one holding of the lock is counted with what the node does. The
// nodes of this package's tests count. Mutation: open does not give the engine what counts.
func TestLockWork(t *testing.T) {
	n, _ := openFake(t, hub.New(hub.Config{}), 1)
	defer n.Close(t.Context())
	c := mustOpen(t, n, stack.Range{Type: 18888, Lower: 1, Upper: 2})
	defer c.Close()
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "more than") || !strings.Contains(got, "1 bindings") {
			t.Errorf("got %q, want a word on 1 bindings", got)
		}
	}()
	inside(n).Loop().Did(engine.WorkSends, 1<<14) // as much as one holding may do
	inside(n).Engine().Subscribe(inside(n).Loop().Now(), engine.SubscriptionConfig{Range: stack.Range{Type: 18888, Upper: 9}})
}
