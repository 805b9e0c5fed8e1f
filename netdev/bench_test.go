// SPDX-License-Identifier: Apache-2.0

package netdev_test

import (
	"testing"

	"github.com/utipc/utipc/netdev"
)

// Proves: wire.cost
func TestArenaDoesNotAllocate(t *testing.T) {
	a := netdev.NewArena(netdev.ArenaConfig{Small: 16, Jumbo: 2, JumboSize: 9000})
	for _, size := range []int{1514, 9000} {
		n := testing.AllocsPerRun(100, func() {
			b := a.Get(size, netdev.Data)
			b.Lend()
			b.Complete()
			b.Hold()
			b.Release()
			b.Release()
		})
		if n != 0 {
			t.Errorf("size %d: got %v allocations, want 0", size, n)
		}
	}
}

func BenchmarkArena(b *testing.B) {
	a := netdev.NewArena(netdev.ArenaConfig{})
	b.ReportAllocs()
	for b.Loop() {
		a.Get(1514, netdev.Data).Release()
	}
}
