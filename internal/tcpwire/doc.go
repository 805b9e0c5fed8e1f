// SPDX-License-Identifier: Apache-2.0

// Package tcpwire is what two nodes say to each other for TCP programs: the first message of a connection, how each
// later message ends, and the question which node has a port. Both the daemon's sockets and those of a node in a
// program's own process speak it.
//
// A connection of TCP is one of seqpackets to the service {the listener's address of IPv4, its port}.
package tcpwire
