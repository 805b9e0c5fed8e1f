// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// TestSeq tries every distance from starts all round the circle.
func TestSeq(t *testing.T) {
	for _, s := range []frame.Seq{0, 1, 2, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 12345} {
		for d := range 1 << 16 {
			u := s + frame.Seq(d)
			before, atMost, after := d > 0 && d < 1<<15, d < 1<<15, d >= 1<<15
			if s.Before(u) != before || s.AtMost(u) != atMost || s.After(u) != after || s.Distance(u) != d {
				t.Fatalf("%d to %d: got before %v, at most %v, after %v, distance %d, want %v, %v, %v, %d",
					s, u, s.Before(u), s.AtMost(u), s.After(u), s.Distance(u), before, atMost, after, d)
			}
			// Both ways agree but at the antipode, which is after from either side.
			if d != 1<<15 && s.Before(u) != u.After(s) {
				t.Fatalf("%d, %d: got before %v but after %v", s, u, s.Before(u), u.After(s))
			}
		}
	}
}
