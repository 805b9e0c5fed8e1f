// SPDX-License-Identifier: Apache-2.0

package netdev

import "github.com/utipc/utipc/frame"

// poolTotal is how many chunks a MessagePool says it has. It gives fewer than half of them,
// so that each may be kept (Buffer.MayKeep).
const poolTotal = 64

// MessagePool is memory for messages that are joined of fragments: chunks for the longest
// message there is, from the heap, which no device knows. They are made when they are
// wanted and then stay, at most 31 of them (2 MiB, as much as may wait in a socket); the
// one that came back last is given first, as it is the likeliest to be in the processor's
// cache still. So a message that was joined leaves no garbage.
//
// Like an Arena it belongs to the side that turns the engine, and Buffers come back from
// any goroutine. A nil MessagePool has none.
type MessagePool struct{ a Arena }

// NewMessagePool makes an empty supply, which finds use after release where a does.
func NewMessagePool(a *Arena) *MessagePool {
	w := &MessagePool{}
	w.a.poison = a.poison
	p := &w.a.pools[0]
	p.chunk = ArenaConfig{JumboSize: frame.MaxMessage}.jumboChunk()
	p.size, p.total = p.chunk-Headroom, poolTotal
	p.given.Store(poolTotal) // those that were never made are free as well
	return w
}

// Get takes a Buffer with room for n bytes or more, up to frame.MaxMessage, which is empty and
// has one holder, the caller: a chunk, or when all are in use memory of its own, which is
// garbage after its release.
func (w *MessagePool) Get(n int) *Buffer {
	if w == nil {
		return alone(n, false)
	}
	p := &w.a.pools[0]
	if 2*(p.free()-1) <= int64(p.total) {
		return alone(n, w.a.poison)
	}
	if b := w.a.Get(n, Control); b != nil {
		return b
	}
	b := &Buffer{arena: &w.a, mem: make([]byte, p.chunk), off: Headroom, end: Headroom}
	if w.a.poison {
		poison(b.mem)
	}
	p.taken++
	b.held.Store(1)
	return b
}

// alone makes a Buffer of n bytes without headroom, the only one of an arena of its own.
func alone(n int, poison bool) *Buffer {
	a := &Arena{poison: poison}
	a.pools[0] = pool{size: n, chunk: n, total: 1, taken: 1}
	a.pools[0].given.Store(2) // it may be kept
	b := &Buffer{arena: a, mem: make([]byte, n)}
	b.held.Store(1)
	return b
}
