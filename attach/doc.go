// SPDX-License-Identifier: Apache-2.0

// Package attach is the protocol between a program and the daemon of its host: the
// records, the connection that carries them, and the ring in shared memory that takes
// its place where both sides want speed. It knows how they look, and nothing of what
// they do: the program's end is in package stack, the daemon's in package daemon.
//
//	program                                   daemon
//	Dial ──────── one UNIX socket for ──────► Listener.Accept
//	Conn ◄─────── each TIPC socket ────────► Conn
//	   record: Header (64 bytes), data (up to 66000)
//
// docs/reference/attach.md has every byte and rule, so that it can be spoken from other languages.
package attach
