// SPDX-License-Identifier: Apache-2.0

// Package quantile has the one formula for quantiles of what is measured.
package quantile

import "math"

// Of returns the smallest value of sorted that at least the share q of all values does not
// exceed (the nearest rank): the least of them for 0, the greatest for 1. It returns the zero
// value if there are none.
func Of[T any](sorted []T, q float64) (value T) {
	n := len(sorted)
	if n == 0 {
		return value
	}
	return sorted[min(n, max(1, int(math.Ceil(q*float64(n)))))-1]
}
