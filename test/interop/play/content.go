// SPDX-License-Identifier: Apache-2.0

package play

import "encoding/binary"

// Fill makes b what stands from byte off on in the content of that number: words of
// eight bytes, each of which depends on the number and its place.
func Fill(b []byte, number uint32, off int) {
	for len(b) > 0 {
		w := word(number, off/8)
		n := copy(b, w[off%8:])
		for b, off = b[n:], off+n; len(b) >= 8; b, off = b[8:], off+8 {
			binary.BigEndian.PutUint64(b, mix(number, off/8))
		}
	}
}

// Differ returns the place of the first byte of b that Fill would make another, or -1.
func Differ(b []byte, number uint32, off int) int {
	for at := 0; at < len(b); {
		w := word(number, (off+at)/8)
		for _, c := range w[(off+at)%8:] {
			if at < len(b) && b[at] != c {
				return off + at
			}
			at++
		}
		for len(b)-at >= 8 && binary.BigEndian.Uint64(b[at:]) == mix(number, (off+at)/8) {
			at += 8
		}
	}
	return -1
}

func word(number uint32, i int) (w [8]byte) {
	binary.BigEndian.PutUint64(w[:], mix(number, i))
	return w
}

// mix is the output function of splitmix64.
func mix(number uint32, i int) uint64 {
	x := uint64(number)<<40 + uint64(i) + 1
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
