// SPDX-License-Identifier: Apache-2.0

// Package conversation follows what nodes say to each other in frames that were
// captured: which packet is new, repeated or late, what a receiver misses, what it
// has acknowledged, and who speaks with whom through which service.
//
//	frame ── Tracker.Add ──► Verdict, on this packet
//	              │
//	              ├─► Link, two Counters: one for each direction
//	              ├─► Broadcast, one Counters for each sender
//	              ├─► Pair: two sockets
//	              └─► Service: a name, or a group
//
// It knows what stands in the frames and nothing of what happened to them: a packet
// is taken for a retransmission when its receiver had reported it as missing, and for
// a duplicate when it was there before and nobody missed it. Round trips are those
// seen where the capture was made, so near a receiver they are shorter than the way.
//
// A Tracker is a machine without a world: times come with the packets, and the same
// packets give the same answers. What it keeps is bounded by Limits.
//
// Not followed: what is inside encrypted packets that were not opened, numbers of group
// members, windows of connections, and acknowledgements of broadcast packets.
package conversation
