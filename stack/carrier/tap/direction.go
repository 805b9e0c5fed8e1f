// SPDX-License-Identifier: Apache-2.0

package tap

// A Direction is which way a frame went, as the file says it.
type Direction uint8

const (
	Unknown Direction = iota
	In
	Out
)

// String returns "unknown", "in" or "out".
func (d Direction) String() string {
	switch d {
	case In:
		return "in"
	case Out:
		return "out"
	}
	return "unknown"
}
