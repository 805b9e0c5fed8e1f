// SPDX-License-Identifier: Apache-2.0

package netdev

import "unsafe"

// alignedMemory returns size bytes of heap that begin at a multiple of SmallChunk.
func alignedMemory(size int) []byte {
	mem := make([]byte, size+SmallChunk)
	skip := 0
	if m := misaligned(mem); m > 0 {
		skip = SmallChunk - m
	}
	return mem[skip : skip+size : skip+size]
}

// misaligned returns how many bytes mem begins behind a multiple of SmallChunk.
func misaligned(mem []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % SmallChunk)
}
