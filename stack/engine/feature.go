// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/utipc/utipc/frame"

// Nodes of this implementation know each other by the mark in their discovery messages
// (frame.Mark), which is there before a link, and long before names. It names a version.
// What they do beyond the protocol of kernels hangs on that alone: ask node.has.
//
// Without keys anybody can send a mark in another's name. So a Feature must do no harm to
// a kernel that is taken for a node of this implementation, nor the other way round: no
// more than what somebody on the segment can do anyway.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".

// A Feature is something that nodes of this implementation do among themselves. Its value
// is the first version that has it.
type Feature uint8

const (
	// Proofs: all that the node seals is numbered in one sequence, and it sends back the
	// challenge in a Response, see proves.
	Proofs Feature = 1

	// Batches: a link over UDP has a large window, and a batch is acknowledged at once, see suit.
	Batches Feature = 2

	// HalfClose: one end of a connection stops sending and goes on reading, see Conn.CloseWrite.
	HalfClose Feature = 3

	// Names: a probe may ask whether names have been applied, see Publication.
	Names Feature = 4

	// Reasons: a member of a group that is evicted is told that it is, see leaveEvicted.
	Reasons Feature = 4

	// Exclusive: a binding may be the only one of its names, see exclusiveKey.
	Exclusive Feature = 5

	// Kinds: a connection request says whether a stream or messages are asked for, see kindTo.
	Kinds Feature = 6
)

// Version is what this implementation announces: the newest Feature.
const Version = uint8(Kinds)

// has reports whether a node is of this implementation and has a feature, as it last said.
func (n *node) has(f Feature) bool { return n.version >= uint8(f) }

// netHash is what discovery says of this node's network namespace.
func (e *Engine) netHash() uint32 {
	if e.cfg.AsKernel {
		return e.hash
	}
	return frame.Mark(e.cfg.Identity, uint16(e.random), Version)
}
