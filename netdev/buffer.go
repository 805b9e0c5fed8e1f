// SPDX-License-Identifier: Apache-2.0

package netdev

import "sync/atomic"

// Headroom is the room a fresh Buffer keeps in front of its bytes, in bytes: a
// tunnel header, an encryption header, a VLAN tag and an Ethernet header fit.
const Headroom = 128

// A Buffer is one chunk of an Arena with the bytes of one frame in it.
//
//	|<------------------ chunk ------------------>|
//	| headroom |    Bytes()    |     tailroom     |
//
// A chunk has any number of holders and is free when the last one lets go:
//
//   - Arena.Get gives a Buffer with one holder, the caller.
//   - Whoever keeps it beyond a call takes a hold of its own (Hold) and gives it
//     back (Release). A link holds a sent Buffer until it is acknowledged.
//   - A device that was handed a Buffer lends it to the wire: it calls Lend when
//     it takes the Buffer and Complete when the hardware has let go.
//
// The bytes may be changed only while no device holds them (Lent says no). The
// counts are safe for concurrent use; bytes and bounds belong to the side that
// turns the engine.
type Buffer struct {
	arena  *Arena
	mem    []byte       // the chunk
	base   int          // where the chunk begins in the arena's memory
	off    int          // where Bytes begins in mem
	end    int          // where Bytes ends in mem
	held   atomic.Int64 // holders, and in the upper half those of them that are devices
	next   *Buffer      // in the arena's list, while free
	index  uint32       // the chunk's place in its arena
	class  uint8        // small or jumbo
	secret bool         // to be wiped when it is free
}

// Bytes returns the frame, in the chunk's own memory.
func (b *Buffer) Bytes() []byte { return b.mem[b.off:b.end] }

// Len returns the number of bytes in the frame.
func (b *Buffer) Len() int { return b.end - b.off }

// Index returns the chunk's place in its arena, from 0.
func (b *Buffer) Index() int { return int(b.index) }

// Of reports whether the chunk is one of an arena, and so of its count: those of a MessagePool
// are not.
func (b *Buffer) Of(a *Arena) bool { return b.arena == a }

// Space returns all memory behind the headroom, for a device to receive into;
// Resize then says how much of it was filled.
func (b *Buffer) Space() []byte { return b.mem[Headroom:] }

// Resize makes the frame the first n bytes behind the headroom. It panics when n
// is larger than Space.
func (b *Buffer) Resize(n int) {
	if n < 0 || n > len(b.mem)-Headroom {
		panic("netdev: Buffer.Resize beyond the chunk")
	}
	b.off, b.end = Headroom, Headroom+n
}

// Extend adds n bytes at the end and returns them, contents undefined. It
// panics when the tailroom is shorter.
func (b *Buffer) Extend(n int) []byte {
	if n < 0 || b.end+n > len(b.mem) {
		panic("netdev: Buffer.Extend beyond the chunk")
	}
	b.end += n
	return b.mem[b.end-n : b.end]
}

// Tailroom is the number of bytes that Extend can add.
func (b *Buffer) Tailroom() int { return len(b.mem) - b.end }

// Prepend adds n bytes in front and returns them, contents undefined. It panics
// when the headroom is shorter.
func (b *Buffer) Prepend(n int) []byte {
	if n < 0 || n > b.off {
		panic("netdev: Buffer.Prepend beyond the headroom")
	}
	b.off -= n
	return b.mem[b.off : b.off+n]
}

// loan is one in the upper half of Buffer.held.
const loan = 1 << 32

// Hold adds a holder. It panics when the chunk is free: only a holder may add one.
func (b *Buffer) Hold() { b.hold(1) }

func (b *Buffer) hold(one int64) {
	if int32(b.held.Add(one)) <= 1 {
		panic("netdev: Buffer held while free")
	}
}

// Release lets go of one hold. The chunk returns to its arena with the last; the
// caller must not touch b afterwards. It panics when there was no hold left.
func (b *Buffer) Release() {
	if b.letGo(1) {
		b.arena.give(b)
	}
}

// Recycle is Release for the side that turns the engine, where it costs less.
func (b *Buffer) Recycle() {
	if b.letGo(1) {
		b.arena.keep(b)
	}
}

// letGo reports whether that was the last hold.
func (b *Buffer) letGo(one int64) (last bool) {
	n := int32(b.held.Add(-one))
	if n < 0 {
		panic("netdev: Buffer released more often than held")
	}
	return n == 0
}

// Secret makes the chunk be wiped when nobody holds it any more.
func (b *Buffer) Secret() { b.secret = true }

// Lend takes a hold for a device. It panics when the chunk is free.
func (b *Buffer) Lend() { b.hold(loan + 1) }

// Complete ends a hold taken by Lend. It panics when there was none left.
func (b *Buffer) Complete() {
	if b.held.Load() < loan {
		panic("netdev: Buffer completed more often than lent")
	}
	if b.letGo(loan + 1) {
		b.arena.give(b)
	}
}

// MayKeep reports whether more than half of the chunks of this size are free, so
// that somebody may keep a received Buffer for as long as he likes. Otherwise he
// copies the bytes out and lets go. It is for the side that turns the engine.
func (b *Buffer) MayKeep() bool {
	p := &b.arena.pools[b.class]
	return 2*p.free() > int64(p.total)
}

// Holders is the number of holds there are, at least loan while a device has it.
func (b *Buffer) Holders() int { return int(b.held.Load()) }

// Lent reports whether a device holds the Buffer, so that its bytes must not be
// changed.
func (b *Buffer) Lent() bool { return b.held.Load() >= loan }

// Shared reports whether anybody holds the Buffer beside the caller, a device
// included, so that its bytes must not be changed.
func (b *Buffer) Shared() bool { return b.held.Load() != 1 }
