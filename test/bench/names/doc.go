// SPDX-License-Identifier: Apache-2.0

// Package names measures what names cost: looking them up, keeping a million, sending to
// all who have one, and how fast the others hear of them.
//
//	table      look-ups beside a Go map, one binding more; no node
//	million    a million bindings: memory, time; no node
//	multicast  four nodes on a bridge: broadcast, copies and unicasts to three receivers
//	bind       the same: from Bind until another node can send there
//	events     the same: from Bind until subscribers know
//	dead       the same: from silence until the names of a node are gone
//
// The table's shapes and loops are package bindings', which the benchmarks of package
// naming share. The four nodes are in one process and sleep when they wait: what is
// compared is ways to send, and both ends share the machine alike.
package names
