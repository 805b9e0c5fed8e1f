// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// GET http://18888:80/greet/alice: 200 OK, hello, alice
	// GET http://18888:80/greet/bob: 200 OK, hello, bob
	// POST http://18888:80/count: 200 OK, 1048576 bytes
}
