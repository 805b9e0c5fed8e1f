// SPDX-License-Identifier: Apache-2.0

// Package hop runs loads between processes of one host: what lies between a program and
// the daemon, and what that stands beside.
//
//	Shared    64 bytes there and back through shared memory, both ends spin
//	Unix      there and back on a UNIX socket of packets, package net's
//	Attached  a program of the daemon: to itself and back, or to one of another host
//
// The daemon itself is a load too, which does nothing but serve.
package hop
