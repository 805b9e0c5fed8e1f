// SPDX-License-Identifier: Apache-2.0

// Package local is a node of this process: the engine, its devices and its sockets, as the
// backend of package stack.
//
// A poll.Loop decides who turns the engine; a poll takes frames from the devices, gives them to
// the engine, carries out what it asks for, and writes what there is to send. A call that sends
// does so itself when the node's lock is free, see submit.
package local
