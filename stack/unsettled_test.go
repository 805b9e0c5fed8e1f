// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"runtime"
	"testing"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A program that takes names through a daemon and gives them back, and never has them settled,
// leaves nothing in the daemon.
//
// Mutation it catches: the node keeps each name until it is settled.
func TestUnsettledNamesLeaveNothing(t *testing.T) {
	n := must.Get(stack.OpenString(t.Context(), "memory:unsettled"))
	defer n.Close(t.Context())
	c := must.Get(stack.SocketConfig{Exclusive: true}.ListenPacket(hosting.Unsettled(t.Context()), n, "tipcrdm", nil))
	name := stack.Service{Type: 18888, Instance: 1}
	objects := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapObjects)
	}
	take := func(times int) {
		for range times {
			if err := c.Bind(name); err != nil {
				t.Fatal(err)
			}
			if err := c.Unbind(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(100)
	before := objects()
	const times = 20000
	if take(times); objects()-before > times/4 {
		t.Errorf("%d objects more after %d names", objects()-before, times)
	}
}
