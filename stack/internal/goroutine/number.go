// SPDX-License-Identifier: Apache-2.0

// Package goroutine tells goroutines apart.
package goroutine

import "runtime"

// number is the number that a traceback shows of the calling goroutine: what
// ID is worth where nobody has written that for the processor. It takes some
// microseconds, as much as a message.
func number() (n uintptr) {
	var line [len("goroutine ") + 20]byte
	for _, c := range line[len("goroutine "):runtime.Stack(line[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uintptr(c-'0')
	}
	return n
}
