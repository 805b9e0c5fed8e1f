// SPDX-License-Identifier: Apache-2.0

package quantile

import "testing"

// Fails if a rank is rounded down, or counted from 1.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		n    int
		q    float64
		want int
	}{
		{0, 0.5, 0},
		{1, 0, 1},
		{1, 1, 1},
		{2, 0.5, 1},
		{3, 0.5, 2},
		{4, 0.5, 2},
		{100, 0.99, 99},
		{101, 0.99, 100},
		{100, 0.999, 100},
		{200, 0.01, 2},
		{10, 0, 1},
		{10, 1, 10},
	} {
		sorted := make([]int, c.n)
		for i := range sorted {
			sorted[i] = i + 1
		}
		if got := Of(sorted, c.q); got != c.want {
			t.Errorf("of 1 to %d, %v: got %d, want %d", c.n, c.q, got, c.want)
		}
	}
}
