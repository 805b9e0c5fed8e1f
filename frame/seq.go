// SPDX-License-Identifier: Apache-2.0

package frame

// A Seq is a sequence, session or generation number: 16 bits that wrap, so that
// order is a matter of distance. Source: docs/spec/02-link.md §1.2.
type Seq uint16

// Before reports whether s comes before t, the nearer way round.
func (s Seq) Before(t Seq) bool { return s != t && s.AtMost(t) }

// After reports whether s comes after t.
func (s Seq) After(t Seq) bool { return !s.AtMost(t) }

// AtMost reports whether s is t or comes before it.
func (s Seq) AtMost(t Seq) bool { return uint16(t-s) < 1<<15 }

// Distance returns how many steps lead from s forward to t.
func (s Seq) Distance(t Seq) int { return int(uint16(t - s)) }
