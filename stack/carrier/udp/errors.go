// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"errors"
	"fmt"
	"net/netip"
)

var (
	// ErrAttached means a device was attached before.
	ErrAttached = errors.New("udp: attached before")
	// ErrNotAttached means a device was to receive before it was attached.
	ErrNotAttached = errors.New("udp: not attached")
	// ErrArena means the arena has no chunk for the bearer's longest message.
	ErrArena = errors.New("udp: no chunk for the longest frame")
)

// An OpenError says that a bearer cannot be opened. It unwraps to the system's
// error.
type OpenError struct {
	Local netip.AddrPort
	What  string // what was refused: "bind", "join 228.0.18.103"
	Err   error
	hint  string // what to do, where that is known
}

func (e *OpenError) Error() string {
	s := fmt.Sprintf("udp: %v: %s: %v", e.Local, e.What, e.Err)
	if e.hint != "" {
		s += ": " + e.hint
	}
	return s
}

func (e *OpenError) Unwrap() error { return e.Err }

// A FrameError says that one frame cannot be sent. It unwraps to the system's
// error: EMSGSIZE for one longer than the MTU, or than the network takes; EINVAL
// for one without an Ethernet header.
type FrameError struct {
	Name string // of the bearer
	Len  int    // of the frame, in bytes, the Ethernet header included
	Err  error
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("udp: bearer %s: frame of %d bytes refused: %v", e.Name, e.Len, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }

// A NetworkError says that nothing can be sent to a remote at present: the
// network is down, there is no route, or a firewall forbids it. It unwraps to the
// system's error.
type NetworkError struct {
	Name   string // of the bearer
	Remote netip.AddrPort
	Err    error
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("udp: bearer %s: to %v: %v", e.Name, e.Remote, e.Err)
}

func (e *NetworkError) Unwrap() error { return e.Err }
