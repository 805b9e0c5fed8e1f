// SPDX-License-Identifier: Apache-2.0

// Package kernel runs the loads on what the kernel itself offers to move bytes: streams
// (of TCP in package tcp, of UNIX sockets, of pipes) and datagrams (UDP, UNIX).
//
//	Stream     a connection of its own for each job, so that nothing is left of the last;
//	           it says how many bytes came, hence how many messages
//	Datagrams  a socket at each end that stays; each message carries its number and the
//	           job's, as far as it has room, so that what is lost or late is noticed
//
// Every one waits in three ways, and each is set as it is best for it, by a program that
// knows what it does and needs no other process's consent: buffers are large, sockets are
// connected, a blocking call that may wait for what is lost has a deadline.
package kernel

// A Wait says how an end waits for data.
type Wait string

const (
	Spin  Wait = "spin"  // a non-blocking call again and again
	Block Wait = "block" // a call that sleeps in the kernel
	GoNet Wait = "gonet" // package net's or os's: it sleeps in the runtime's poller
)

// known reports whether there is such a Wait.
func (w Wait) known() bool { return w == Spin || w == Block || w == GoNet }
