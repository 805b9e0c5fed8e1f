// SPDX-License-Identifier: Apache-2.0

// Package cores measures what a node sends from several goroutines at once: how many messages
// a second, how much processor time each takes, and for how much of that the node's lock is
// held.
//
//	goroutine 1 ─ socket ─┐                            ┌─ peer 1, a reader
//	goroutine 2 ─ socket ─┼─ node: one engine, one lock ┤
//	…                     ┘                            └─ peer 2, a reader
//
// All nodes are in this process. A goroutine waits when 4096 of its messages to a peer are not
// read. The processor time of the process is from getrusage(2), and divided between the sending
// node and its peers, inside the lock and outside, in proportion to the samples of a CPU
// profile: goroutines have a label that says whose they are, and held tells which stacks are
// of a holder of the lock. So the node is measured as it is, and nothing is added to it. What
// is known of samples is known to within one over the root of their number, which is printed.
//
// What the holder of the lock does outside of the functions that held knows, as to choose who leads,
// counts as outside: a few tens of nanoseconds for a message. The time is processor time, so
// that a holder that was preempted does not count as holding.
package cores
