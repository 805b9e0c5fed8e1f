// SPDX-License-Identifier: Apache-2.0

package flowctl

import "time"

// leastThreshold is the lowest slow start threshold. Source: docs/spec/02-link.md §7.3.
const leastThreshold = 300

// A congestion decides how many packets may be sent and not acknowledged: always
// least where most is the same, else by the kernel's rule. It outlives resets. All of it
// is in packets. Source: docs/spec/02-link.md §1.1, §7.
type congestion struct {
	window      int32
	least, most int32 // its bounds
	ssthresh    int32 // up to here it grows by what was acknowledged, then by one a window
	congAcks    int32 // acknowledged since it grew by one
}

// Window is the number of packets that may be sent and not acknowledged.
func (l *Link) Window() int { return int(l.window) }

// WindowBounds returns the bounds of the window, in packets.
func (l *Link) WindowBounds() (least, most int) { return int(l.least), int(l.most) }

// SetWindow changes the bounds of the window, at once: between 1 and MaxWindow, and
// the upper not below the lower; values outside are moved to the nearest bound. With
// equal bounds the window is static.
func (l *Link) SetWindow(now time.Duration, least, most int) {
	least = min(max(least, 1), MaxWindow)
	most = min(max(most, least), MaxWindow)
	c := &l.congestion
	c.least, c.most = int32(least), int32(most)
	c.window = min(max(c.window, c.least), c.most)
	c.ssthresh, c.congAcks = c.most, 0
	if l.IsUp() {
		l.Flush(now)
	}
}

// adapt changes the window after released packets were acknowledged, or some had to be
// repeated; with neither, after an interval in which nothing new was sent.
// Source: docs/spec/02-link.md §7.3.
func (l *Link) adapt(released int, repeated bool) {
	c := &l.congestion
	switch {
	case c.least == c.most:
	case repeated:
		c.ssthresh = max(c.window/2, leastThreshold)
		c.window = max(min(c.ssthresh, c.window), c.least)
	case released == 0:
		c.ssthresh = max(c.window/2, leastThreshold)
		c.window = c.least
	case l.Unacked()+l.backlog.Len() < l.Window():
	case l.Unacked() != l.transmit.Len(): // holes
	default:
		c.congAcks = min(c.congAcks+int32(released), MaxWindow)
		switch {
		case c.window <= c.ssthresh:
			c.window = min(c.window+int32(released), c.most)
		case c.congAcks >= c.window:
			c.window = min(c.window+1, c.most)
			c.congAcks = 0
		}
	}
}

// The window is one of packets of up to windowUnit bytes: of larger ones fewer are
// under way, so that both ends find the memory they use in their caches, but
// windowLeast, as a kernel acknowledges every sixteenth.
const (
	windowUnit  = 4 << 10
	windowLeast = 20
)

// Open reports whether the next packet may be sent now. While an older one is missing at most two
// windows are under way with those behind it that the peer has, for they are kept; on a broadcast
// link one: no receiver believes in more than a window ahead of what it misses.
func (l *Link) Open() bool {
	n, w := l.Unacked(), l.Window()
	span := min(2*w, MaxWindow)
	if l.cast != nil {
		span = w
	}
	return n < w && !l.cork.on && (n < windowLeast || int(l.flight) < w*windowUnit) && l.transmit.Len() < span
}
