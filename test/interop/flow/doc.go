// SPDX-License-Identifier: Apache-2.0

// Package flow sends a stream of messages of many sizes from one reliable
// datagram socket to another and judges what arrives: what is missing, doubled,
// out of order or changed, and for how long nothing came. The same code runs over
// a socket of this stack and over one of a kernel, inside a guest of the rig.
//
//	Sender                                  Sink
//	   | message 0, 1, 2, ... (package pattern) |
//	   |--------------------------------------->| judges
//	   |<---------------------------------------| credit: the number it waits for
//	   | end: how many there were               |
//	   |--------------------------------------->| reports
//
// Sockets without connections have no flow control of their own, so the sender
// never has more under way than fits into the receiver's queue.
package flow
