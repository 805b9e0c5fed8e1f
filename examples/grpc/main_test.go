// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// check of "printer" at 18888:50051: SERVING
	// watch: SERVING
	// watch: NOT_SERVING
}
