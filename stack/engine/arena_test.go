// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/internal/arenapool"
	"github.com/utipc/utipc/netdev"
)

// arenasLent counts the arenas of the pool that are in use.
var arenasLent atomic.Int32

// newArena makes an arena that serves until the test ends. A test that makes many, or large ones,
// has few of the pool, as it would keep the memory of all of them until its end.
func newArena(t testing.TB, c netdev.ArenaConfig) *netdev.Arena {
	if arenasLent.Load() >= 8 || c.MemorySize() > 16<<20 {
		return netdev.NewArena(c)
	}
	arenasLent.Add(1)
	a, free := arenapool.New(c)
	t.Cleanup(func() {
		arenasLent.Add(-1)
		free()
	})
	return a
}
