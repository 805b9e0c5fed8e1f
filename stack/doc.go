// SPDX-License-Identifier: Apache-2.0

// Package stack makes a process a node of a TIPC cluster and gives it sockets, in
// the manner of package net.
//
//	Open ──► Node ──► ListenPacket ──► PacketConn   messages to and from names
//	          │
//	          ├─────► Subscribe ─────► Subscription  names that come and go
//	          └─────► Names, Links, Bearers, Waits, Stats   how things stand
//
// A Node turns one engine (package engine) behind one lock, in laps: take a batch
// of frames from the devices, feed it, write what it has for them. Whoever needs
// progress turns it, a sender in its own call, a receiver while it waits; the
// node's own goroutine only when nobody does. The rules stand in lap.go, who
// drives is decided in handover.go.
//
// A node with a single waiting reader takes a message from the wire to that reader
// without a wake-up. Config.Wait says whether the reader spins, sleeps, or does
// what has lately paid off.
//
// When a busy program leaves the engine to itself, by computing without waiting,
// frames that arrive in the first two milliseconds may wait that long for the node's
// goroutine; after that they are taken at once.
//
// A sender that sends without pause lets small messages wait for each other, and
// share frames and the calls that send them; nothing waits for a clock. After its
// last message the rest goes out with the next call that looks for frames, or with
// the node's goroutine as soon as that gets a processor: at once where one is free,
// within 10 ms in a process with a single one (GOMAXPROCS) that computes on
// without a pause. Config.NoBundles gives every message a frame of its own.
//
// A node has up to three bearers. Between two nodes there are two links at most: of
// equal priority they share the sockets, else the one of higher priority carries all
// and the other stands by. When one fails, what was under way on it goes over the
// other: nothing is lost, doubled or out of order.
//
// A message to another node may be 66000 bytes long; above what a packet of the link
// carries it is cut into fragments.
//
// Where a link, or the node's memory, has no room a write waits: writes of one
// importance in the order they began to, none overtaken. Waits lists them, a log entry
// tells of one that waits for a second, and BlockedError why its deadline passed.
//
// Not built yet: connections, groups, sending to ranges, the daemon.
package stack
