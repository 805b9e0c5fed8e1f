// SPDX-License-Identifier: Apache-2.0

// Package instructions counts what a message costs in instructions, which unlike its time does
// not depend on the machine's load: it runs benchmarks of package bench under valgrind's
// callgrind, and holds them against the counts in testdata/counts.txt.
//
//	go test -v ./test/bench/instructions
//
// prints the counts by package, and with UTIPC_UPDATE_DOCS=1 writes them to the file.
package instructions
