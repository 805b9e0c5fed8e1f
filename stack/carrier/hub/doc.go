// SPDX-License-Identifier: Apache-2.0

// Package hub is an Ethernet segment in memory: a switch whose ports are
// devices, for tests, for a first look and for several nodes in one program.
//
//	node ── Port ─┐
//	node ── Port ─┼─ Hub      Transmit: copied into the ring of each receiver
//	node ── Port ─┘           Receive:  copied from the ring into the arena
//
// A frame for one station goes to the port with that address, a frame for a
// group to all ports but the sender's. A port takes what an Ethernet station
// takes: its own address, broadcast and multicast (docs/spec/01-wire.md §1.1).
// Any EtherType passes. Frames arrive in the order they were sent, unpadded,
// or not at all: a receiver that is behind by a whole ring loses the newest,
// and counts them.
//
// What is not here: time. The hub has no delay and no rate, loses nothing on
// its own account and starts no goroutine; package fault does the harm. It does
// not learn addresses: a port has the one it was given.
package hub
