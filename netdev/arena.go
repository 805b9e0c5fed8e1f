// SPDX-License-Identifier: Apache-2.0

package netdev

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
	// Sealing is what a packet is sealed into, until the device has let go: it takes
	// half of the reserve, so that data that fills the rest is sent all the same.
	Sealing
)

// String returns "data", "control" or "sealing".
func (u Use) String() string {
	switch u {
	case Data:
		return "data"
	case Sealing:
		return "sealing"
	}
	return "control"
}

// An ArenaConfig sizes an Arena; zero fields mean the defaults.
type ArenaConfig struct {
	Small     int // small chunks; default 4096
	Jumbo     int // jumbo chunks; default 0
	JumboSize int // bytes of frame a jumbo chunk must take, headroom not counted
	Reserve   int // small and jumbo chunks, each, that Data never gets; default 128, at most half

	// Memory is where the chunks lie: page-aligned, and MemorySize bytes or more.
	// It stays its owner's, whom Retire tells when nobody uses it any more. Nil:
	// the heap.
	Memory []byte

	// Poison finds use after release, in tests: see Poison, the byte.
	Poison bool

	// Refuse, with Poison, is asked at each Get and makes it give nothing: tests of what
	// happens when memory is short.
	Refuse func(Use) bool
}

func (c ArenaConfig) withDefaults() ArenaConfig {
	if c.Small == 0 {
		c.Small = 4096
	}
	if c.Reserve == 0 {
		c.Reserve = 128
	}
	return c
}

// jumboChunk is the size of a jumbo chunk, in bytes, headroom included.
func (c ArenaConfig) jumboChunk() int {
	return (Headroom + c.JumboSize + SmallChunk - 1) / SmallChunk * SmallChunk
}

// MemorySize is how many bytes the arena needs, a multiple of SmallChunk.
func (c ArenaConfig) MemorySize() int {
	c = c.withDefaults()
	return c.Small*SmallChunk + c.Jumbo*c.jumboChunk()
}

// An Arena is the memory all frames of one node live in: a fixed number of
// chunks of two sizes. It never grows.
//
//	Memory()  | small | small | ... | jumbo               | jumbo               | ...
//	          0       4096    8192   4096 times their number
//
// Jumbo chunks are some multiple of 4096 bytes long, so a device that knows only
// pieces of 4096 bytes can name any byte of them.
//
// An Arena belongs to the side that turns the engine; Buffers come back from any
// goroutine.
type Arena struct {
	pools   [2]pool
	reserve int
	poison  bool
	refuse  func(Use) bool // nil but in tests
	mem     []byte
	all     []Buffer
	end     retirement
}

// A pool is the free chunks of one size. They stand on an atomic stack: anyone
// puts one back, and the one taker takes the newest, which is the likeliest to be
// in the processor's cache still. That only one side takes makes a plain
// compare-and-swap right: what it saw on top cannot leave and come back meanwhile.
type pool struct {
	size   int // bytes of frame, headroom not counted; 0: no chunks
	chunk  int // bytes, headroom included
	base   int // where the first begins in the arena's memory, bytes
	total  int
	top    atomic.Pointer[Buffer]
	given  atomic.Int64 // chunks that ever went on the stack
	taken  int64        // and left it, but for the ones kept; of the taker
	kept   *Buffer      // chunks that came back by Recycle, the newest first; of the taker
	rested *Buffer      // poisoned chunks that were free before those of the stack
}

// NewArena makes an arena. It panics when c.Memory is too short or lies askew.
func NewArena(c ArenaConfig) *Arena {
	c = c.withDefaults()
	size := c.MemorySize()
	mem := c.Memory
	if mem == nil {
		mem = alignedMemory(size)
	}
	if len(mem) < size || misaligned(mem) != 0 {
		panic("netdev: ArenaConfig.Memory is shorter than MemorySize or not page-aligned")
	}
	a := &Arena{
		reserve: c.Reserve, poison: c.Poison, refuse: c.Refuse,
		mem: mem[:size:size], all: make([]Buffer, c.Small+c.Jumbo),
	}
	if a.poison {
		poison(a.mem)
	}
	a.fill(0, 0, SmallChunk, c.Small)
	if c.Jumbo > 0 {
		a.fill(1, c.Small, c.jumboChunk(), c.Jumbo)
	}
	return a
}

// fill makes n chunks of one size, the first with the given index, behind what
// there is.
func (a *Arena) fill(class uint8, first, chunk, n int) {
	p := &a.pools[class]
	p.size, p.chunk, p.base, p.total = chunk-Headroom, chunk, first*SmallChunk, n
	for i := range n {
		b := &a.all[first+i]
		b.arena, b.class, b.index = a, class, uint32(first+i)
		b.base = p.base + i*chunk
		b.mem = a.mem[b.base : b.base+chunk : b.base+chunk]
		a.push(b)
	}
}

// Get takes a chunk that has room for a frame of size bytes. The Buffer is
// empty, stands behind its headroom and has one holder, the caller. It returns
// nil when no such chunk is free for this use, or none is that large, or the
// arena is retired.
func (a *Arena) Get(size int, use Use) *Buffer {
	p := a.poolFor(size)
	if p == nil || use != Control && a.scarce(p, use) || a.end.begun.Load() {
		return nil
	}
	var b *Buffer
	if !a.poison {
		b = p.newest()
	} else if a.refuse == nil || !a.refuse(use) {
		if b = p.longestFree(); b != nil {
			b.checkPoison()
		}
	}
	if b == nil {
		return nil
	}
	b.next = nil
	p.taken++
	b.off, b.end = Headroom, Headroom
	b.held.Store(1)
	return b
}

// newest takes what came back last, as far as that is known here: first what is
// kept, then the top of the stack.
func (p *pool) newest() *Buffer {
	if b := p.kept; b != nil {
		p.kept = b.next
		return b
	}
	for {
		b := p.top.Load()
		if b == nil || p.top.CompareAndSwap(b, b.next) {
			return b
		}
	}
}

// longestFree takes a chunk that nobody has touched for a while, if all is well:
// the stack is taken over whole, and the next time when that is used up.
func (p *pool) longestFree() *Buffer {
	if p.rested == nil {
		p.rested = p.top.Swap(nil)
	}
	b := p.rested
	if b != nil {
		p.rested = b.next
	}
	return b
}

// poolFor returns where Get takes a chunk of size bytes from, or nil.
func (a *Arena) poolFor(size int) *pool {
	for i := range a.pools {
		if p := &a.pools[i]; size <= p.size {
			return p
		}
	}
	return nil
}

func (p *pool) free() int64 { return p.given.Load() - p.taken }

// scarce reports whether what is left of p is the reserve, or the half that is not for
// sealing.
func (a *Arena) scarce(p *pool, use Use) bool {
	least := min(a.reserve, p.total/2)
	if use == Sealing {
		least /= 2
	}
	return p.free() <= int64(least)
}

// ScarceFor reports whether Get would refuse Data of this size for the time being.
func (a *Arena) ScarceFor(size int) bool {
	p := a.poolFor(size)
	return p != nil && a.scarce(p, Data)
}

// Available is how many chunks of this size Get would give to Data now, and of how
// many at most: with all others free. Both are 0 where no chunk is that large.
func (a *Arena) Available(size int) (now, most int) {
	p := a.poolFor(size)
	if p == nil {
		return 0, 0
	}
	reserve := min(a.reserve, p.total/2)
	return max(0, int(p.free())-reserve), p.total - reserve
}

// SmallFrame is the length of the longest frame that a small chunk takes, in bytes.
func (a *Arena) SmallFrame() int { return a.pools[0].size }

// TotalFor is the number of chunks, free or not, of the size that Get takes for a frame of
// size bytes; 0 where no chunk is that large.
func (a *Arena) TotalFor(size int) int {
	p := a.poolFor(size)
	if p == nil {
		return 0
	}
	return p.total
}

// Largest is the length of the longest frame that any chunk takes, in bytes.
func (a *Arena) Largest() int { return max(a.pools[0].size, a.pools[1].size) }

// give takes back a chunk that nobody holds.
func (a *Arena) give(b *Buffer) {
	if b.secret {
		b.wipe()
	}
	if a.poison {
		poison(b.mem)
	}
	a.push(b)
	if a.end.begun.Load() {
		a.settle()
	}
}

// keep takes back a chunk on the taker's side.
func (a *Arena) keep(b *Buffer) {
	if a.poison || a.end.begun.Load() {
		a.give(b)
		return
	}
	if b.secret {
		b.wipe()
	}
	p := &a.pools[b.class]
	b.next, p.kept = p.kept, b
	p.taken--
}

func (b *Buffer) wipe() {
	clear(b.mem)
	b.secret = false
}

func (a *Arena) push(b *Buffer) {
	p := &a.pools[b.class]
	for {
		old := p.top.Load()
		b.next = old
		if p.top.CompareAndSwap(old, b) {
			p.given.Add(1)
			return
		}
	}
}

// Free returns the number of chunks nobody holds. A chunk on its way back may be
// missing from it for a moment.
func (a *Arena) Free() int {
	return int(a.pools[0].free() + a.pools[1].free())
}

// Total returns the number of chunks.
func (a *Arena) Total() int { return len(a.all) }
