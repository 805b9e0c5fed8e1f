// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package goroutine

// ID is what tells the calling goroutine from all others that live, and is never 0:
// the address of the runtime's record of it, which does not move as its stack does.
func ID() uintptr
