// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package embedded is the node that the preload library has in a program's own process, for TCP: no daemon is on the way
// of its data, and the program's thread drives the node itself, by Poll, while it waits.
//
//	read, write, poll, epoll_wait of the program
//	   │
//	preload/embedded.c: descriptors become handles
//	   │
//	embedded ──► package stack ──► the interface
//
// A program that spins calls Poll again and again: each call takes what the devices have, and nobody is woken. One that
// sleeps calls Arm first, and sleeps in poll(2) beside the descriptor that it gets: the node's own goroutine drives the
// node then, and writes to that descriptor when a socket is ready.
//
// Ports, and which node has one, are the daemon's to say (plain-tcpat of docs/reference/attach.md); the library asks it. What the
// nodes say to each other is in package tcpwire, as between daemons.
package embedded
