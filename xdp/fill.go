// SPDX-License-Identifier: Apache-2.0

package xdp

// A fillRing gives the kernel chunks to receive into, by their offsets in the
// shared memory. Chunks that the kernel could not use it keeps; none comes back
// but with a frame in it.
type fillRing struct{ producerRing[uint64] }
