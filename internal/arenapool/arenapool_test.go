// SPDX-License-Identifier: Apache-2.0

package arenapool_test

import (
	"testing"
	"unsafe"

	"github.com/utipc/utipc/internal/arenapool"
	"github.com/utipc/utipc/netdev"
)

// Memory is used again for an arena of the same size once it is free, and not before.
//
// Mutations: put that keeps nothing; take that leaves what it returns in the pool.
func TestMemoryIsUsedAgain(t *testing.T) {
	at := func(a *netdev.Arena) *byte { return unsafe.SliceData(a.Memory()) }
	small := netdev.ArenaConfig{Small: 16, Reserve: 4}
	x, freeX := arenapool.New(small)
	y, freeY := arenapool.New(small)
	if at(x) == at(y) {
		t.Fatal("two arenas in use have the same memory")
	}
	first := at(x)
	freeX()
	larger, freeLarger := arenapool.New(netdev.ArenaConfig{Small: 32, Reserve: 4})
	if at(larger) == first {
		t.Error("an arena of another size has the memory")
	}
	z, freeZ := arenapool.New(small)
	if at(z) != first {
		t.Error("memory that is free is not used again")
	}
	if z.Free() != z.Total() || z.Total() != 16 {
		t.Errorf("%d of %d chunks are free, want 16 of 16", z.Free(), z.Total())
	}
	w, freeW := arenapool.New(small)
	if at(w) == first {
		t.Error("memory in use is lent again")
	}
	freeW()
	freeY()
	freeZ()
	freeLarger()
}
