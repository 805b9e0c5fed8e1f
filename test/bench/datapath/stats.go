// SPDX-License-Identifier: Apache-2.0

package datapath

import "slices"

// median returns the middle of v, the mean of the two middle ones of an even number;
// 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	k := len(s) / 2
	if len(s)%2 == 1 {
		return s[k]
	}
	return (s[k-1] + s[k]) / 2
}

// A Spread is figures of several rounds in short.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	return Spread{median(v), slices.Min(v), slices.Max(v)}
}
