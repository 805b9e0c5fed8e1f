// SPDX-License-Identifier: Apache-2.0

package xdp

// A completionRing brings back what was sent: one offset in the shared memory
// for each descriptor put into the transmit ring, once the wire has let go.
type completionRing struct{ consumerRing[uint64] }
