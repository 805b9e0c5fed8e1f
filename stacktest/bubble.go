// SPDX-License-Identifier: Apache-2.0

package stacktest

import "testing/synctest"

// inBubble reports whether the caller is in a bubble of testing/synctest.
func inBubble() (yes bool) {
	defer func() { recover() }() // Wait panics outside of a bubble
	synctest.Wait()
	return true
}

// settle has all else in the bubble be done with the present instant, so that what the test does next
// comes behind it. Outside of a bubble it does nothing.
func (c *Cluster) settle() {
	if c.bubble {
		inBubble()
	}
}
