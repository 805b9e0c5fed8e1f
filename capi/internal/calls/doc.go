// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package calls is libutipc without C: what its functions do, with Go's types. Package capi
// gives it the arguments of a C program, and hands its results and errors back.
//
//	C program ──► capi, utipc.c: is this a forked child?
//	                │
//	              capi, Go: pointers become slices, errors errnos
//	                │
//	              calls: a handle becomes a Node or Socket ──► package stack
//
// Nodes, sockets and subscriptions have handles, numbers of one table. A handle that is not
// in the table, or whose object has no such call, is an error, and so is a name that is none.
//
// A Socket is read in one of two ways. Without a descriptor the call reads package stack's
// socket itself, and so drives the node while it waits. With one (Socket.FD) a goroutine reads
// one message ahead whenever there is none, and an eventfd says whether there is one.
//
// Timeouts are milliseconds: 0 does not wait, a negative one waits without end.
package calls
