// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// Registrations counts how often an arena's memory is registered with the kernel.
func Registrations(arena *frame.Arena) (n int) {
	umems.Lock()
	defer umems.Unlock()
	for _, u := range umems.all {
		if u.arena == arena {
			n++
		}
	}
	return n
}
