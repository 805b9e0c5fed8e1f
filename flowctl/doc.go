// SPDX-License-Identifier: Apache-2.0

// Package flowctl is one link between two nodes: how it comes up, how each end
// supervises the other, how packets arrive once and in order, and how a sender
// is slowed down.
//
//	          HandleLink, HandlePacket                      Send
//	                   │                                     │
//	┌──────────────────▼──────────┐  acks, gaps  ┌───────────▼──────────┐
//	│ receiver: order, deferral,  ├─────────────►│ sender: backlog,     │
//	│ when to acknowledge         │              │ window, repetition   │
//	└───────┬──────────────┬──────┘              └───────────┬──────────┘
//	 to the node      STATE, RESET, ACTIVATE                 │
//	 (Next, events)        └───────────────► NextFrame ◄─────┘
//
// Beside the unicast Link there is a Broadcast: the end of another node's
// broadcast link, whose acknowledgements travel in the unicast link's messages.
//
// A Link knows no clock and no device. Its owner, the engine, hands it messages
// and the time, and takes frames and events out. Window 50 packets, no gap-ack
// blocks: what is announced missing behind an acknowledgement is sent again, and
// nothing else. Not built yet: sending on the broadcast link, sending bundles and
// fragments, parallel links with failover, the adaptive window.
package flowctl
