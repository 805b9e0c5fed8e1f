// SPDX-License-Identifier: Apache-2.0

// Package seal is TIPC's encryption as a machine without a world: keys, the
// sealing and opening of packets, and the rules by which a node goes over from
// one key to the next without losing a message.
//
//	     Ring (a node's own keys)                 Peer (one other node)
//	slot 0  master, cluster mode            slots 1..3  copies of its own keys:
//	slots 1..3  pending, active                         pending, active, passive
//	      |                                          |
//	Choose: under which keys, in order         Open: which key, what the bits say
//	      |                                          |
//	Seal ----> sealed packet on the wire ----> Open, then the inner message
//
// A Ring and its Peers know no clock, no chance and no I/O: time is now since the
// engine began, and every random number is an argument. They are not safe for
// concurrent use. What a packet says inside belongs to package frame.
//
// Not here: when a node drops plain packets (its owner's choice), the sending of
// key messages (Ring.Distribution says what goes into one), and preliminary
// nodes, which the kernel makes of identities it could authenticate: a packet of a node
// without a Peer is opened with the node's own keys each time, and nothing is kept.
//
// Source: docs/spec/09-security.md.
package seal
