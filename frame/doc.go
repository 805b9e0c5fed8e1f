// SPDX-License-Identifier: Apache-2.0

// Package frame holds every byte TIPC puts on the wire: Ethernet framing, the
// messages of each user, addresses and their text forms, wrapping sequence
// numbers. It holds nothing else. The memory that frames live in is package netdev's.
//
//	bytes ── Parse ──► Message ── ParsePayload, ParseLink, … ──► a view of the kind
//	                                                               │ Fields
//	bytes ◄──────────────────── Append ◄──────────────────── a struct of fields
//
// A view is read-only and shares the frame's memory; only a parser makes one, so
// having it means its bytes were checked. What parses is built back byte for
// byte by Fields and Append, reserved bits aside.
//
// The records inside STATE messages have views of their own, GapAcks and Domain;
// so have Encrypted packets, whose header is readable, and the records of the
// topology service, Subscription and TopologyEvent.
//
// What is for people and tools stands in folders of its own: describe prints a message
// in one line, dissect takes it apart into all its fields, lint finds the rules of the
// protocol that it breaks, layers reads captures, conversation follows them. They use
// what this package exports, Message.Word and Message.Check among it.
//
// Not read: InfiniBand's addresses, and what stands inside encrypted packets.
//
// The package imports nothing of the project, keeps no state and reads no clock.
package frame
