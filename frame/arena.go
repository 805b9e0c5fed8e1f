// SPDX-License-Identifier: Apache-2.0

package frame

import "sync/atomic"

// SmallChunk is the size of a small chunk, in bytes, headroom included. A frame
// of an Ethernet network with an MTU of up to 3954 bytes fits.
const SmallChunk = 4096

// A Use says what a Buffer is wanted for.
type Use uint8

const (
	// Data is anything a user can cause; it leaves the reserve alone.
	Data Use = iota
	// Control is the link protocol and reception, which must go on when data
	// has used up the rest.
	Control
)

// String returns "data" or "control".
func (u Use) String() string {
	if u == Data {
		return "data"
	}
	return "control"
}

// An ArenaConfig sizes an Arena; zero fields mean the defaults.
type ArenaConfig struct {
	Small     int // small chunks; default 4096
	Jumbo     int // jumbo chunks; default 0
	JumboSize int // bytes of frame in a jumbo chunk, headroom not counted
	Reserve   int // small and jumbo chunks, each, that Data never gets; default 128, at most half
}

// An Arena is the memory all frames of one node live in: a fixed number of
// chunks of two sizes. It never grows.
//
// Get belongs to the side that turns the engine; Buffers come back from any
// goroutine.
type Arena struct {
	pools   [2]pool
	reserve int
	all     []Buffer
}

// A pool is the free chunks of one size. Chunks come back on an atomic stack,
// from whoever releases last, and are taken over whole by the one taker.
type pool struct {
	size     int // bytes of frame, headroom not counted
	total    int
	local    *Buffer
	returned atomic.Pointer[Buffer]
	free     atomic.Int64
}

// NewArena allocates an arena.
func NewArena(c ArenaConfig) *Arena {
	if c.Small == 0 {
		c.Small = 4096
	}
	if c.Reserve == 0 {
		c.Reserve = 128
	}
	a := &Arena{reserve: c.Reserve, all: make([]Buffer, c.Small+c.Jumbo)}
	a.fill(0, a.all[:c.Small], SmallChunk-Headroom)
	if c.Jumbo > 0 {
		a.fill(1, a.all[c.Small:], c.JumboSize)
	}
	return a
}

func (a *Arena) fill(class uint8, bufs []Buffer, size int) {
	p := &a.pools[class]
	p.size, p.total = size, len(bufs)
	chunk := size + Headroom
	mem := make([]byte, chunk*len(bufs))
	for i := range bufs {
		b := &bufs[i]
		b.arena, b.class, b.index = a, class, uint32(i)
		if class == 1 {
			b.index += uint32(a.pools[0].total)
		}
		b.mem = mem[i*chunk : (i+1)*chunk : (i+1)*chunk]
		a.give(b)
	}
}

// Get takes a chunk that has room for a frame of size bytes. The Buffer is
// empty, stands behind its headroom and has one holder, the caller. It returns
// nil when no such chunk is free for this use, or none is that large.
func (a *Arena) Get(size int, use Use) *Buffer {
	p := &a.pools[0]
	if size > p.size {
		p = &a.pools[1]
		if size > p.size {
			return nil
		}
	}
	if use == Data && a.scarce(p) {
		return nil
	}
	b := p.local
	if b == nil {
		if b = p.returned.Swap(nil); b == nil {
			return nil
		}
	}
	p.local, b.next = b.next, nil
	p.free.Add(-1)
	b.off, b.end = Headroom, Headroom
	b.holders.Store(1)
	return b
}

// scarce reports whether what is left of p is the reserve.
func (a *Arena) scarce(p *pool) bool { return p.free.Load() <= int64(min(a.reserve, p.total/2)) }

// Scarce reports whether Get would refuse Data of some size that it can have.
func (a *Arena) Scarce() bool {
	return a.scarce(&a.pools[0]) || a.pools[1].total > 0 && a.scarce(&a.pools[1])
}

func (a *Arena) give(b *Buffer) {
	p := &a.pools[b.class]
	for {
		old := p.returned.Load()
		b.next = old
		if p.returned.CompareAndSwap(old, b) {
			p.free.Add(1)
			return
		}
	}
}

// Free returns the number of chunks nobody holds. A chunk on its way back may be
// missing from it for a moment.
func (a *Arena) Free() int {
	return int(a.pools[0].free.Load() + a.pools[1].free.Load())
}

// Total returns the number of chunks.
func (a *Arena) Total() int { return len(a.all) }
