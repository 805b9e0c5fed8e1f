// SPDX-License-Identifier: Apache-2.0

package netdev

// Memory returns all memory of the arena, page-aligned, for a device to register.
// It is nil once the arena has ended.
func (a *Arena) Memory() []byte { return a.mem }

// At returns the Buffer whose chunk has the byte at this offset of Memory, or nil
// where there is none. It may be free: At takes no hold, and a number that came
// from outside may be any.
func (a *Arena) At(offset uint64) *Buffer {
	if offset >= uint64(len(a.mem)) {
		return nil
	}
	if jumbo := &a.pools[1]; jumbo.total > 0 && offset >= uint64(jumbo.base) {
		return &a.all[a.pools[0].total+int((offset-uint64(jumbo.base))/uint64(jumbo.chunk))]
	}
	return &a.all[offset/SmallChunk]
}

// Chunk returns where the Buffer's chunk begins in the arena's memory, in bytes.
func (b *Buffer) Chunk() int { return b.base }

// Offset returns where Bytes begins in the arena's memory, in bytes.
func (b *Buffer) Offset() int { return b.base + b.off }

// Place makes the frame the n bytes that begin off bytes behind the start of the
// chunk, where a device has put them. It returns false, and changes nothing, when
// they do not lie within the chunk.
func (b *Buffer) Place(off, n int) bool {
	if off < 0 || n < 0 || n > len(b.mem) || off > len(b.mem)-n {
		return false
	}
	b.off, b.end = off, off+n
	return true
}
