// SPDX-License-Identifier: Apache-2.0

package main

// Proves: house.docs
func Example() {
	main()
	// Output: node 1 asks: what time is it?
}
