// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// node 1001001 took the numbers 1 to 4000
	// node 1001002 took the numbers 4001 to 8000
	// node 1001003 took the numbers 8001 to 10000
	// the client found the service on 3 nodes
	// the service has 10000 numbers, their sum is 50005000
}
