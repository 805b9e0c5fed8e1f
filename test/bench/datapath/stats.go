// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"slices"

	"github.com/utipc/utipc/test/bench/sheet"
)

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
	return Spread{sheet.Median(v), slices.Min(v), slices.Max(v)}
}
