// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// three candidates: all say the leader is 1
	// 1 has stepped down: all say the leader is 2
	// 2 has left the cluster: all say the leader is 3
}
