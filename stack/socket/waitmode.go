// SPDX-License-Identifier: Apache-2.0

package socket

import "strconv"

// A WaitMode says what a waiting call does while nothing comes.
type WaitMode uint8

const (
	// Adaptive spins for some 50 µs as long as that has lately paid off, then
	// sleeps; it does not spin where it shares its core, or has less than one. The
	// default.
	Adaptive WaitMode = iota
	// Sleep never spins.
	Sleep
	// Spin owns a core: it never sleeps while a call waits.
	Spin
)

// String returns the mode's name, as in "adaptive".
func (m WaitMode) String() string {
	switch m {
	case Adaptive:
		return "adaptive"
	case Sleep:
		return "sleep"
	case Spin:
		return "spin"
	}
	return "WaitMode(" + strconv.Itoa(int(m)) + ")"
}
