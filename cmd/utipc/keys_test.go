// SPDX-License-Identifier: Apache-2.0

package main

// Keys as they are written; the first is that of capture 24.
const (
	key20 = "0x00112233445566778899aabbccddeeffdeadbeef"
	key28 = "twenty-eight-letters-of-text"
)
