// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"math/bits"
	"time"
)

// A Mode is where in the kernel the XDP program takes frames out.
type Mode uint8

const (
	// ModeAuto tries the mode first that serves the interface's driver best, then
	// the other. On a veth generic mode is first: native mode costs a copy into a
	// page with headroom for each frame there (2.95 µs a round trip beside 2.36).
	// On anything else native mode is.
	ModeAuto Mode = iota
	// ModeNative takes frames out in the driver, without a copy where the driver
	// can (zero-copy). It makes a veth's other end lose segmentation offload, and
	// many cards stop for a moment when it begins and ends.
	ModeNative
	// ModeGeneric takes frames out behind the driver ("SKB mode"). Every driver
	// can, and each frame is copied once.
	ModeGeneric
)

// String returns "auto", "native" or "generic".
func (m Mode) String() string {
	switch m {
	case ModeAuto:
		return "auto"
	case ModeNative:
		return "native"
	case ModeGeneric:
		return "generic"
	}
	return "invalid"
}

// An XSKConfig tunes OpenXSK; nil and zero fields mean the defaults. Rings have
// a power of two of entries, at most 32768; other numbers are rounded up.
type XSKConfig struct {
	// Mode is where frames are taken out; default ModeAuto. With MapPath or MapFD
	// it only says what has been set up.
	Mode Mode
	// Copy rules out zero-copy, for drivers that do it badly.
	Copy bool
	// Queues are the receive queues to listen to; default all the interface has,
	// up to 64. No card spreads TIPC's frames over its queues by itself, so they
	// arrive on queue 0, but drivers and flow rules differ, a veth uses the
	// sender's queue, and a frame that arrives on another queue is lost to this
	// node. With zero-copy each queue's other traffic passes through its share of
	// Fill, too: there, name the one queue that rules steer TIPC to. Frames are sent
	// through the first.
	Queues []int
	// Fill is the number of chunks the kernel may hold to receive into, for all
	// queues together; default 2048, at most half the arena's small chunks, by default
	// at most a quarter. A flood longer than this, while nobody receives, loses frames.
	Fill int
	// Receive and Transmit are the sizes of each queue's receive ring and of the
	// transmit ring, in entries; default 2048.
	Receive, Transmit int
	// MultiBuffer prepares for frames of more than one chunk even though the MTU
	// does not need it yet, so that the MTU may be raised above 3822 later. It
	// needs Linux 6.6.
	MultiBuffer bool
	// StrippedTags opens an interface although its driver takes VLAN tags out of
	// the frames (rx-vlan-offload), where the program cannot see them. Without it
	// such an interface is refused: TIPC of all VLANs would come in as of ours.
	StrippedTags bool
	// BusyPoll, when not 0, lets Receive and Transmit run the card's receive
	// routine in place of its interrupts, as long as this (SO_PREFER_BUSY_POLL,
	// SO_BUSY_POLL). It is for cards with napi_defer_hard_irqs and
	// gro_flush_timeout set; on a veth it makes everything slower.
	BusyPoll time.Duration
	// BusyPollBudget is the number of frames one such turn may take; 0 leaves
	// the system's choice.
	BusyPollBudget int
	// MapPath or MapFD name an XSKMAP that a program on the interface redirects
	// TIPC's frames into, as Install sets it up: then no program is loaded, and
	// CAP_NET_RAW is all it takes. MapPath is where it is pinned; MapFD is a
	// descriptor, which stays the caller's. 0 is none.
	MapPath string
	MapFD   int

	timeouts timeouts
}

const (
	defaultRing  = 2048
	smallestRing = 64
	largestRing  = 32768
	defaultFill  = 2048
)

// withDefaults returns a copy of c, which may be nil, without zero sizes, but
// for Fill, which depends on the arena.
func (c *XSKConfig) withDefaults() XSKConfig {
	var d XSKConfig
	if c != nil {
		d = *c
	}
	d.Receive, d.Transmit = ringSize(d.Receive), ringSize(d.Transmit)
	d.timeouts = d.timeouts.withDefaults()
	return d
}

// ringSize makes a number of entries one that a ring can have.
func ringSize(n int) int {
	switch {
	case n <= 0:
		return defaultRing
	case n >= largestRing:
		return largestRing
	}
	return max(smallestRing, 1<<bits.Len(uint(n-1)))
}

// fillChunks is the number of chunks for all fill rings, out of an arena of total of
// their size: three bearers of a node leave a quarter of them.
func (c *XSKConfig) fillChunks(total int) int {
	if c.Fill > 0 {
		return max(1, min(c.Fill, total/2, largestRing))
	}
	return max(1, min(defaultFill, total/4))
}

// foreign reports whether the program is somebody else's.
func (c *XSKConfig) foreign() bool { return c.MapPath != "" || c.MapFD != 0 }
