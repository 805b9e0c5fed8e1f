// SPDX-License-Identifier: Apache-2.0

// Package engine is a node as one machine: discovery, the other nodes and the
// links to them, names, sockets. It has no clock, goroutine or I/O of its own:
// its owner hands it frames and the time, and takes out frames and events.
//
//	HandleFrame ──► Ethernet ──► discovery ─────────► node made, answered
//	                   │
//	                   └──► node by source address ──► link by bearer: may it pass
//	                                                   now (admit), in order?
//	                                                     │
//	              ┌──────────────┬───────────────┬───────┴──────┐
//	           bundle,        payload:         names:        broadcast
//	           fragment       port's queue,    inbox,        link opened
//	           (again)        or returned      table
//
//	Send ──► table ──► chunk, header ──► link by slot ──► NextFrame(bearer)
//
// A node has up to two links to another. They share what is sent, by socket, or one
// stands by; when one fails, what it still had goes through the other (failover), and
// a second one that comes up waits until the first has delivered (synch).
//
// What changes in the table is told to Subscriptions of this process, and, at the end
// of HandleTimeout, to the clients of the topology service {1,1}.
//
// A Conn is one end of a connection. It and a Listener have a Port inside of them, so
// that they share its numbers, its queue and its place among those who wait for a link.
// What is between two sockets of this node takes the same way as a message that came
// from another, and its bytes, but no link. A part of the engine can be one end, see
// connUser: it is called at once.
//
// A Port with a Handler has no reader: the handler is called within HandleFrame, or by
// ServeHandlers for what waits. A Lent is a message whose data is written in the chunks
// that are sent.
//
// HandleTimeout is due at Deadline. All chance comes through Chance, so one seed
// gives one run. Not safe for concurrent use: package stack has the lock.
//
// Short messages of a stream may share packets, see flowctl.Nagle; what a closed connection
// still holds it sends before its end, for at most 8 s.
package engine
