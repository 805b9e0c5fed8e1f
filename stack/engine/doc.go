// SPDX-License-Identifier: Apache-2.0

// Package engine is a node as one machine: discovery, the other nodes and the
// links to them, names, sockets. It has no clock, goroutine or I/O of its own:
// its owner hands it frames and the time, and takes out frames and events.
//
//	HandleFrame ──► Ethernet ──► discovery ─────────► node made, answered
//	                   │
//	                   └──► node by source address ──► link: in order?
//	                                                     │
//	              ┌──────────────┬───────────────┬───────┴──────┐
//	           bundle,        payload:         names:        broadcast
//	           fragment       port's queue,    inbox,        link opened
//	           (again)        or returned      table
//
//	Send ──► table ──► chunk, header ──► link ──► NextFrame(bearer)
//
// HandleTimeout is due at Deadline. All chance comes through Chance, so one seed
// gives one run. Not safe for concurrent use: package stack has the lock.
//
// Not built yet: connections, groups, multicast senders, more than one bearer,
// messages above one packet on their way out.
package engine
