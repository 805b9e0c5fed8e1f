// SPDX-License-Identifier: Apache-2.0

package socket

import "strconv"

// A RingMode says whether the records of an attached node's sockets go through memory that
// is shared with the daemon, a ring for each socket, rather than through the system's
// sockets. It takes some 512 KiB a socket, and pays off where both ends spin.
type RingMode uint8

const (
	// RingAuto has rings with AttachConfig.Wait of Spin, if the daemon grants them. The
	// default.
	RingAuto RingMode = iota
	// RingNever has none.
	RingNever
	// RingAlways has one for each socket but those that listen, or no socket.
	RingAlways
)

// String returns the mode's name, as in "always".
func (m RingMode) String() string {
	switch m {
	case RingAuto:
		return "auto"
	case RingNever:
		return "never"
	case RingAlways:
		return "always"
	}
	return "RingMode(" + strconv.Itoa(int(m)) + ")"
}
