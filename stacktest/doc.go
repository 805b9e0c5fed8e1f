// SPDX-License-Identifier: Apache-2.0

// Package stacktest tests programs that use package stack, without a network: as httptest does
// with HTTP, and net.Pipe with connections. It opens the nodes of a cluster in the process of the
// test, on networks in memory, harms these networks and the nodes as the test says, and ends
// everything with the test.
//
//	func TestPrinter(t *testing.T) {
//		c := stacktest.NewCluster(t, 3) // all three have met
//		servePrinter(t, c.Node(0))
//		c.Between(0, 1).Lose(0.1)
//		print(t, c.Node(1), "page one")
//		c.Crash(0)
//		...
//	}
//
// # Faults
//
// A Paths is a set of paths that frames take from one node to another: Cluster.Between, Around,
// Bearer and All make one. It can be cut and healed, lose a share of the frames, and delay them.
// Cluster.Crash ends a node without a word to the others, Cluster.Restart opens it anew.
//
// # Virtual time
//
// Within testing/synctest all of it goes by the bubble's clock: that a peer is lost after 1.5 s of
// silence, or that a write times out after a minute, takes no time to test. Pass NewCluster the T
// that the bubble has.
//
//	synctest.Test(t, func(t *testing.T) {
//		c := stacktest.NewCluster(t, 2)
//		c.Between(0, 1).Cut()
//		...
//	})
//
// Nodes here have Config.Wait Sleep. A node with Adaptive or Spin, of Config.Node or of the test's
// own, hangs a bubble: a goroutine that spins never lets its clock move. So do nodes on devices
// of the system (packages xdp and udp): to the bubble they are never idle.
//
// In a bubble each frame takes at least MinDelay, and all that is drawn follows from Config.Seed:
// ports, sessions, and which frames are lost. Two runs are the same, frame by frame, as long as
// the program does in one order what it does at one node at one instant. Goroutines that use one
// node at the same instant have no such order.
//
// Outside of a bubble frames take no time unless they are delayed, and links have a tolerance of
// 20 s, so that contact is not lost where a test's machine stands still: a crash is noticed after
// that. Where this matters, use a bubble, or set another with Config.Node.
//
// # What is left open
//
// When the test ends, what it has left open is an error of the test: sockets, listeners,
// connections, memberships and subscriptions of nodes that were not closed, each with the line
// where it was opened, and goroutines of the test that are in a call of package stack, each with
// the line of that call. A goroutine is one of the test's that the test has started since
// NewCluster, or that one of these has started. They are told by the label "stacktest" of
// runtime/pprof, which the test's goroutine keeps. What ends by itself within LeaveTimeout is not
// reported, nor is anything when the test has failed already.
package stacktest
