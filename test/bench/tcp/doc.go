// SPDX-License-Identifier: Apache-2.0

// Package tcp runs the loads on the kernel's TCP: raw sockets that spin or block, and
// package net. A job makes a connection of its own, with cubic and TCP_NODELAY.
package tcp

// A Wait says how an end waits for data.
type Wait string

const (
	Spin  Wait = "spin"  // a non-blocking read again and again
	Block Wait = "block" // a read that sleeps in the kernel
	GoNet Wait = "gonet" // a net.TCPConn: sleeps in the runtime's poller
)
