// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math"
	"time"
)

// Never is the deadline of a machine that waits for nothing.
const Never time.Duration = math.MaxInt64

// Bounds of a link's tolerance. Source: docs/spec/02-link.md §1.3.
const (
	MinTolerance     = 50 * time.Millisecond
	DefaultTolerance = 1500 * time.Millisecond
	MaxTolerance     = 30 * time.Second
)

// A Supervisor decides when a silent peer is lost, by the kernel's rule.
//
//	up --(interval over, silent ≤ limit)---> up, silent+1
//	up --(interval over, silent > limit)---> lost
//	up --(anything heard)------------------> up, silent=0
//
// At the default tolerance of 1.5 s a peer is lost 1.9 to 2.25 s after it was
// heard last. Its owner calls Tick at every interval. Not safe for concurrent use.
// Source: docs/spec/02-link.md §3.
type Supervisor struct {
	tolerance time.Duration
	silent    int // intervals in a row without a packet
}

// Interval is the time between ticks: a quarter of the tolerance, at most 500 ms.
func (s *Supervisor) Interval() time.Duration { return min(s.tolerance/4, 500*time.Millisecond) }

// Limit is the number of silent intervals a living peer may have.
func (s *Supervisor) Limit() int { return int(s.tolerance / s.Interval()) }

// HandlePacket notes that the peer spoke. It does not revive a lost peer.
func (s *Supervisor) HandlePacket() { s.silent = 0 }

// Silent reports whether nothing was heard in the last interval.
func (s *Supervisor) Silent() bool { return s.silent > 0 }

// Tick closes an interval and reports whether the peer is lost. count says whether the
// interval counts as silent if nothing comes from now on.
func (s *Supervisor) Tick(count bool) (lost bool) {
	if s.silent > s.Limit() {
		return true
	}
	if count {
		s.silent++
	}
	return false
}
