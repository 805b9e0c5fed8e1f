// SPDX-License-Identifier: Apache-2.0

// Package split simulates one node that is made of several engines, each with peers of its
// own, beside the same node of one engine: how much of the work can be done on several
// cores at once, and how much every engine has to do again.
//
//	              ┌─ engine 0 ── peers 0, 2, 5, …
//	programs ─────┼─ engine 1 ── peers 1, 3, …       one address, one station address,
//	   │          └─ engine 2 ── peers 4, 6, …       one number for a socket in all engines
//	   └── directory: the names that all engines know
//
// The engines are the real ones, on a virtual clock. All engines of the node have its address. A
// frame of a peer goes to the engine that has the peer, as a network card would spread frames
// over its queues. A socket has a port with the same number in each engine. What a program does
// is done in one engine, where it concerns one peer, and in all, where it concerns all:
//
//	datagram by name, dial    the directory says which node; the engine of that peer sends
//	multicast                 a send in every engine that has a receiver
//	what a peer sends         the engine of the peer
//	socket, listener, name    opened, bound and withdrawn in every engine: done again
//	name of a peer            the engine of that peer; and the directory, one after another
//
// Each pair of sockets has its order, and no more is promised by the protocol: two peers'
// messages to one socket have none. The peers hear nothing of each other. An engine's group
// frames go to its own peers, a copy to each: the broadcast link of a split node is one for
// each engine. Supervision by the ring monitor and messages within the node are not played.
//
// Work is counted in two ways. Units are frames in and out, messages sent and read, and what
// engine.Config.Did tells; they are the same in every run. Time is of Config.Clock, read around
// each turn of an engine. The bound of the speedup is the work of the node of one engine,
// divided by that of the busiest engine and the directory's, which is taken to be under a lock.
//
// What must hold, and is a violation else: every message is read once, in the order of its
// pair of sockets; in the end the directory has the names of all peers; and each peer knows the
// node's names, with the same socket at every peer.
package split
