// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// 12 jobs are done by 2 workers; one left without doing any
	// 0² + 1² + ... + 11² = 506
}
