// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// farmer, topics 100-100: ["rain at noon"]
	// sailor, topics 100-199: ["rain at noon" "a storm from the west"]
	// editor, topics 0-999: ["rain at noon" "a storm from the west" "the home team wins"]
}
