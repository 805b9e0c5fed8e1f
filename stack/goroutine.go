// SPDX-License-Identifier: Apache-2.0

package stack

import "runtime"

// goroutineNumber is the number that a traceback shows of the calling goroutine: what
// goroutine is worth where nobody has written that for the processor. It takes some
// microseconds, as much as a message.
func goroutineNumber() (number uintptr) {
	var line [len("goroutine ") + 20]byte
	for _, c := range line[len("goroutine "):runtime.Stack(line[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		number = number*10 + uintptr(c-'0')
	}
	return number
}
