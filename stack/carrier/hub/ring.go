// SPDX-License-Identifier: Apache-2.0

package hub

import "encoding/binary"

const (
	lengthLen  = 4     // bytes of a slot that say how long its frame is
	chunkBytes = 65536 // what a ring allocates at a time, about
)

// A ring keeps frames for one receiver, in slots of one size.
//
// Slots are allocated in chunks as they are first used, and an empty ring begins
// anew at slot 0, so that its memory is that of the longest queue it ever had.
// The port's mutex guards it, except that the one receiver reads the slots from
// head on without it: put never writes those.
type ring struct {
	slot   int  // bytes of a slot
	shift  uint // a chunk is 1<<shift slots
	size   int  // slots, a power of two
	head   int  // the oldest frame's place, 0 ≤ head < size
	length int  // frames
	chunks [][]byte
}

// newRing makes a ring of size slots, a power of two, for frames of at most
// longest bytes.
func newRing(size, longest int) *ring {
	r := &ring{size: size, slot: (lengthLen + longest + 63) &^ 63}
	for 1<<r.shift < size && r.slot<<(r.shift+1) <= chunkBytes {
		r.shift++
	}
	r.chunks = make([][]byte, size>>r.shift)
	return r
}

// put copies f behind the newest frame; false when the ring is full.
func (r *ring) put(f []byte) bool {
	if r.length == r.size {
		return false
	}
	i := (r.head + r.length) & (r.size - 1)
	c := &r.chunks[i>>r.shift]
	if *c == nil {
		*c = make([]byte, r.slot<<r.shift)
	}
	s := (*c)[i&(1<<r.shift-1)*r.slot:]
	binary.NativeEndian.PutUint32(s, uint32(len(f)))
	copy(s[lengthLen:], f)
	r.length++
	return true
}

// at returns the frame that is i places behind head, in the ring's memory. head
// is the receiver's own reading of r.head.
func (r *ring) at(head, i int) []byte {
	i = (head + i) & (r.size - 1)
	s := r.chunks[i>>r.shift][i&(1<<r.shift-1)*r.slot:]
	return s[lengthLen : lengthLen+int(binary.NativeEndian.Uint32(s))]
}

// drop removes the n oldest frames.
func (r *ring) drop(n int) {
	r.head = (r.head + n) & (r.size - 1)
	r.length -= n
	if r.length == 0 {
		r.head = 0
	}
}
