// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package stack

// goroutine is what tells the calling goroutine from all others that live, and is never 0.
func goroutine() uintptr { return goroutineNumber() }
