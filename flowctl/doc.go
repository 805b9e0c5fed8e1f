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
// A broadcast link has many receiving ends, each a BroadcastReceiver, whose
// acknowledgements travel in the messages of the unicast links. Its sending end, the
// BroadcastSender, is a Link's sending half with a Member for each that answers.
//
// Groups have flow control and an order of their own, for each pair of members: GroupFlow
// and GroupMember, GroupOrder, GroupAcks, GroupLag.
//
// A Link knows no clock and no device. Its owner, the engine, hands it messages
// and the time, and takes frames and events out. What the peer misses is sent again,
// and nothing else: with gap-ack blocks all of it is known at once, without them only
// what is missing first. Recovery does not wait for the tick, see recovery.
package flowctl
