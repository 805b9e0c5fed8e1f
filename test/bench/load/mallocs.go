// SPDX-License-Identifier: Apache-2.0

package load

import "runtime"

// A Mallocs counts the allocations of this process from Begin to End.
type Mallocs struct {
	before uint64
	begun  bool
}

// Begin starts counting. It takes some ten microseconds.
func (m *Mallocs) Begin() { m.before, m.begun = mallocs(), true }

// End returns the allocations since Begin; 0 if that never was.
func (m *Mallocs) End() uint64 {
	if !m.begun {
		return 0
	}
	return mallocs() - m.before
}

func mallocs() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.Mallocs
}

// A Count counts the messages and the allocations of an end that measures nothing
// else, warming up left out.
type Count struct {
	N       uint64 // messages
	mallocs Mallocs
}

// Add counts k messages.
func (c *Count) Add(k int) {
	before := c.N
	c.N += uint64(k)
	if before < 2*warmUpTrips && c.N >= 2*warmUpTrips {
		c.mallocs.Begin()
	}
}

// Fill puts the counts into r.
func (c *Count) Fill(r *Result) {
	r.Count, r.All = c.N, c.N
	if c.N > 2*warmUpTrips {
		r.Messages, r.Mallocs = c.N-2*warmUpTrips, c.mallocs.End()
	}
}
