// SPDX-License-Identifier: Apache-2.0

// Package arenapool makes arenas for tests, simulations and replays, in memory that it uses
// again. Their nodes come and go by the thousand, and a node's arena takes megabytes: clearing
// them took up to half of such a run.
package arenapool

import (
	"sync"

	"github.com/utipc/utipc/netdev"
)

// kept is how many bytes of memory stay in the pool at most.
const kept = 128 << 20

var pool struct {
	sync.Mutex
	free  map[int][][]byte // by length
	bytes int
}

// New makes an arena as netdev.NewArena does. Its memory is not cleared: it holds the frames of
// an earlier arena, as chunks do that were used before. The caller calls free once, when nothing
// uses the arena and its Buffers any more. c.Memory must be nil.
func New(c netdev.ArenaConfig) (a *netdev.Arena, free func()) {
	if c.Memory != nil {
		panic("arenapool: ArenaConfig.Memory is given")
	}
	c.Memory = take(c.MemorySize())
	a = netdev.NewArena(c)
	return a, func() { put(a.Memory()) }
}

// take returns memory of n bytes, nil where none is in the pool.
func take(n int) []byte {
	pool.Lock()
	defer pool.Unlock()
	free := pool.free[n]
	if len(free) == 0 {
		return nil
	}
	m := free[len(free)-1]
	pool.free[n] = free[:len(free)-1]
	pool.bytes -= n
	return m
}

func put(m []byte) {
	pool.Lock()
	defer pool.Unlock()
	if pool.bytes+len(m) > kept {
		return
	}
	if pool.free == nil {
		pool.free = map[int][][]byte{}
	}
	pool.free[len(m)] = append(pool.free[len(m)], m)
	pool.bytes += len(m)
}
