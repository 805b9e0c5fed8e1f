// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/engine"
)

// One holding of the lock may do so much and no more; the next begins anew. The nodes of
// this package's tests count. Mutation: Unlock does not reset the count; did does not panic;
// open does not give the engine what counts.
func TestLockWork(t *testing.T) {
	n, _ := openFake(t, hub.New(hub.Config{}), 1)
	defer n.Close(t.Context())
	for range 2 {
		n.inside().mu.Lock()
		n.inside().did(engine.WorkFrames, mostLockWork/2)
		n.inside().unlock()
	}
	c := mustOpen(t, n, Range{Type: 18888, Lower: 1, Upper: 2})
	defer c.Close()
	tooMuch := func(what string, f func()) {
		t.Helper()
		defer func() {
			if got, _ := recover().(string); !strings.Contains(got, "more than") || !strings.Contains(got, what) {
				t.Errorf("got %q, want a word on %s", got, what)
			}
			n.inside().mu.work.over()
		}()
		n.inside().did(engine.WorkSends, mostLockWork)
		f()
	}
	n.inside().mu.Lock()
	defer n.inside().unlock()
	tooMuch("1 frames", func() { n.inside().did(engine.WorkFrames, 1) })
	tooMuch("1 bindings", func() {
		n.inside().eng.Subscribe(n.inside().now(), engine.SubscriptionConfig{Range: Range{Type: 18888, Upper: 9}})
	})
}
