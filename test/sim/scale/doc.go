// SPDX-License-Identifier: Apache-2.0

// Package scale simulates clusters of up to a thousand nodes on one segment, on a
// virtual clock: how they come up, what they say when they idle, how soon a dead node
// is noticed, and by whom.
//
// The engines are the real ones. A node binds one name of its own and is bound to its
// address, so that its table shows when it knows all others. Nobody sends messages: what
// is on the wire is discovery, the link protocol with the records of the ring monitor,
// and names. Every frame takes the same time to every station; a frame is lost on the way to
// one station, by chance, or not at all.
//
// A run boots all nodes, lets them idle, kills some at once without a word, starts those
// again, and so on. What must hold, and is a violation else:
//
//   - all nodes are in contact, and know all names, within a bound after they started;
//   - nobody reports a node lost that lives, ever;
//   - every survivor reports every dead node, at the latest ten seconds beyond the bound, and
//     99 of 100 within Config.Bound;
//   - the names of the dead are gone from all tables, and nobody else's are.
package scale
