// SPDX-License-Identifier: Apache-2.0

// Package fault wraps a device and does to its frames what a bad network does:
// loses them, repeats them, lets them overtake each other.
//
//	engine ── Injector ── device
//	            Out: each frame once, when Transmit is first offered it
//	            In:  each frame once, when Receive gets it from the device
//
// It can also keep what it was given to send for long after it was sent, as real
// cards do and the devices of tests do not.
//
// What happens to which frame follows from a seed and from the order of frames
// in that direction alone. With no faults configured the device beneath shows
// through unchanged.
//
// What is not here: time, so no delay and no rate. A frame held back waits for
// others to overtake it, not for a clock; the last of a burst waits for the
// next burst. Bytes are never changed.
package fault
