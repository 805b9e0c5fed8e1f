// SPDX-License-Identifier: Apache-2.0

package xdp

// An rxRing brings the frames that have arrived, in chunks of the fill ring.
type rxRing struct{ consumerRing[descriptor] }
