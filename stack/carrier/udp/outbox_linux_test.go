// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"testing"
)

// runsOf shows how datagrams of some sizes to one station are sent.
func runsOf(longest int, sizes ...int) (s string) {
	var o outbox
	for i, n := range sizes {
		if i == 0 {
			o.begin(&station{to: makeSockaddr(at(1), 0)}, make([]byte, n))
			continue
		}
		o.extend(make([]byte, n), longest)
	}
	for i, r := range o.runs[:o.n] {
		s += fmt.Sprintf("%dx%d ", r.frames, r.size)
		m := &o.messages[i]
		if (r.frames > 1) != (m.Control != nil) || int(m.Iovlen) != r.frames {
			s += "! "
		}
	}
	return s
}

func TestRuns(t *testing.T) {
	many := make([]int, 64)
	for i := range many {
		many[i] = 1400
	}
	for _, tt := range []struct {
		longest int
		sizes   []int
		want    string
	}{
		{1472, []int{100}, "1x100 "},
		{1472, []int{100, 100, 100}, "3x100 "},
		{1472, []int{100, 100, 99}, "3x100 "},
		{1472, []int{100, 99, 99}, "2x100 1x99 "}, // a shorter one is the last
		{1472, []int{100, 101, 101}, "1x100 2x101 "},
		{1472, []int{0, 0, 100}, "1x0 1x0 1x100 "},
		{1472, []int{100, 0}, "1x100 1x0 "},
		{1472, []int{1473, 1473, 1472, 1472}, "1x1473 1x1473 2x1472 "},
		{0, []int{100, 100}, "1x100 1x100 "},
		{1472, many, "46x1400 18x1400 "}, // 65487 bytes
		{65000, []int{40000, 40000}, "1x40000 1x40000 "},
	} {
		if got := runsOf(tt.longest, tt.sizes...); got != tt.want {
			t.Errorf("%v, at most %d: got %q, want %q", tt.sizes, tt.longest, got, tt.want)
		}
	}
}
