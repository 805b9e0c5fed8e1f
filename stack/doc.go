// SPDX-License-Identifier: Apache-2.0

// Package stack makes a process a node of a TIPC cluster and gives it sockets, in
// the manner of package net.
//
//	Open ──► Node ──► ListenPacket ──► PacketConn   messages to and from names
//	          │
//	          ├─────► Subscribe ─────► Subscription  names that come and go
//	          └─────► Names, Links, Stats            how things stand
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
// Not built yet: connections, groups, sending to ranges, more than one bearer,
// messages above one frame to other nodes, the daemon.
package stack
