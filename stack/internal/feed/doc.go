// SPDX-License-Identifier: Apache-2.0

// Package feed holds what a node hands to a reader who may be slow: captured frames, and events
// of the node. Who puts something in never waits; what finds no room is lost, and counted.
package feed
