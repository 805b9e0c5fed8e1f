// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"slices"

	"github.com/utipc/utipc/test/bench/sheet"
)

// PointOf is the Point of what the rounds have found at x. Without any round it has no
// place in a Series; its y is 0.
func PointOf(x float64, rounds []float64) Point {
	p := Point{X: x, Y: sheet.Median(rounds), Raw: rounds}
	if len(rounds) > 0 {
		p.Low, p.High = slices.Min(rounds), slices.Max(rounds)
	}
	return p
}

// CellOf is the Cell of what the rounds have found; without any it says "-".
func CellOf(u Unit, rounds []float64) Cell {
	if len(rounds) == 0 {
		return Cell{Word: "-"}
	}
	return Cell{Unit: u, Value: sheet.Median(rounds), Low: slices.Min(rounds), High: slices.Max(rounds), Raw: rounds}
}
