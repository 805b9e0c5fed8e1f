// SPDX-License-Identifier: Apache-2.0

package sim

import "math/rand/v2"

// patternLen is after how many bytes the pattern repeats itself.
const patternLen = 1<<18 - 5

const patternMost = 1 << 17 // bytes that patternAt returns at most

// pattern is the bytes that connections carry, each from a place of its own on: so that
// whatever is missing or moved does not look right.
var pattern = func() []byte {
	r := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, patternLen+patternMost)
	for i := range b[:patternLen] {
		b[i] = byte(r.Uint32())
	}
	copy(b[patternLen:], b)
	return b
}()

// patternAt returns n bytes of the pattern.
func patternAt(at, n int) []byte {
	at %= patternLen
	return pattern[at : at+n : at+n]
}
