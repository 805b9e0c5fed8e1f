// SPDX-License-Identifier: Apache-2.0

// Package daemon makes a node one that other programs of the host share: a Server takes
// their connections, see package attach and docs/reference/attach.md, and does on a *stack.Node
// what they ask for.
//
//	program ── a connection for each socket ──► session ──► stack.PacketConn, Conn, ...
//	        ◄─────────────────────────────────── deliver ◄── stack.Poller
//
// A session has one goroutine, which reads. It does what a record asks for at once, and
// waits for nothing but room: for the node to take a message, and for the program to take
// an answer. While it waits it does not read, and so the program feels it. What may take
// longer (to connect, to call, to subscribe at another node) has a goroutine for as long
// as it takes. Messages to programs are delivered by whoever made them ready: by the
// session that sent them, if they came from this host, else by the one goroutine that
// waits for the node. Who finds that a program does not read leaves its socket to a
// goroutine that waits for that one.
//
// What a program may have is limited by process, by user and for all (Quotas), what it may
// do by its credentials (Policy). What it was refused is counted, and told by Clients.
package daemon
