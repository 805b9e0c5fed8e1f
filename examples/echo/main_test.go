// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// node 1001002, over a connection to 18888:17: hello, stream
	// node 1001002, from node 1001001: hello, datagram
}
