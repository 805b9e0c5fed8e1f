// SPDX-License-Identifier: Apache-2.0

// Package monitor is TIPC's overlapping ring monitor as a machine without a world:
// in a large cluster a node supervises some of its neighbours itself, and relies on
// what others say of the rest.
//
// All nodes with a link on a bearer, and the node itself, form a ring in the order
// of their addresses. A node's domain is the next ones behind it, about as many as
// the square root of the ring, and every node tells all others of its domain's
// members: the record. So a node probes its own domain, and beyond it one head after
// the other, each of which covers its own domain:
//
//	        own domain          head's domain      head's domain
//	self  [ o  o  o  o ]   H  [ .  .  .  . ]   H  [ .  .  .  . ]   (self)
//	        direct         direct  by report    direct
//
// A node that heads report lost is probed, and lost if it does not answer; if four
// of them report it, after one probe without answer.
//
// A Monitor is of one bearer. It knows no clock, chance or I/O. Not safe for
// concurrent use. Source: docs/spec/03-discovery-and-node.md §8.
package monitor
