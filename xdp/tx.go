// SPDX-License-Identifier: Apache-2.0

package xdp

// A txRing takes the frames to be sent.
type txRing struct{ producerRing[descriptor] }

// putFrame puts the length bytes at offset addr of the shared memory as one
// frame, cut where chunks end, because a descriptor must lie within one. There
// must be room for as many as pieces says.
func (r *txRing) putFrame(addr, length int) {
	for {
		n := min(length, chunkSize-addr%chunkSize)
		d := descriptor{addr: uint64(addr), length: uint32(n)}
		if n < length {
			d.options = continued
		}
		r.put(d)
		if addr, length = addr+n, length-n; length == 0 {
			return
		}
	}
}

// pieces is the number of descriptors of a frame of length bytes, at least one,
// at offset addr of the shared memory.
func pieces(addr, length int) int {
	return (addr%chunkSize + length + chunkSize - 1) / chunkSize
}
