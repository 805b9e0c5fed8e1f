// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"errors"
	"fmt"
)

var (
	// ErrAddress means a port cannot have this address: a group's or nobody's.
	ErrAddress = errors.New("hub: not the address of one station")
	// ErrAddressInUse means another port has the address.
	ErrAddressInUse = errors.New("hub: address in use")
	// ErrName means a port's name is empty or longer than 15 bytes.
	ErrName = errors.New("hub: name is not of 1 to 15 bytes")
	// ErrAttached means a port was attached before.
	ErrAttached = errors.New("hub: attached before")
	// ErrNotAttached means a port was used before it was attached.
	ErrNotAttached = errors.New("hub: not attached")
	// ErrArena means the arena has no chunk for the longest frame of the segment.
	ErrArena = errors.New("hub: no chunk for the longest frame")
)

// A SizeError says that a frame is too short for an Ethernet header or too long
// for the segment.
type SizeError struct {
	Len int // of the frame, in bytes
	Max int // of a frame of this segment, in bytes, the Ethernet header included
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("hub: frame of %d bytes on a segment for 14 to %d", e.Len, e.Max)
}
