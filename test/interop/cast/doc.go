// SPDX-License-Identifier: Apache-2.0

// Package cast multicasts numbered messages from several senders to the sockets
// bound within ranges, and judges at each socket what arrives: what is missing,
// doubled, out of order or changed, or was never meant for it. The same code runs
// over sockets of this stack and over those of a kernel, inside guests of the rig.
//
//	Sender                                     all Receivers
//	   | message 0, 1, 2, ... (package pattern),    |
//	   | each to the range that the Plan says       |
//	   |------------------------------------------->| judge
//	   | every so many a mark, to a range of all    |
//	   |------------------------------------------->|
//	   |<-------------------------------------------| confirm it, by unicast
//
// Everybody knows the Plan: a receiver works out by itself which messages of each
// sender it must get. Multicast has no flow control of its own: a sender is never more
// than two marks ahead of the slowest receiver, so that queues do not overflow.
package cast
