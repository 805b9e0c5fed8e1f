// SPDX-License-Identifier: Apache-2.0

// Package launch runs an application kernel: each rank is a process of its own, which the
// first starts by running its own program again.
//
//	Site.Run ──┬─ rank 0, on core 0 ──┐
//	           ├─ rank 1, on core 1 ──┤ a cable, or a bridge if there are more than two, each in
//	           ├─ …                   │ a network namespace; else the loopback interface
//	           └─ a burner a core, if told so
//
// A rank is told its Spec in a line of JSON on its standard input, and says its Outcome in one
// on its standard output. It ends when its input does, hence with its parent.
//
// InProcess runs the ranks as goroutines, for tests.
package launch
