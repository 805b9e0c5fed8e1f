// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"

	"github.com/utipc/utipc/frame"
)

// ErrUnreachable means that a message cannot go where it is to go. Each cause is an error of
// its own, and errors.Is(cause, ErrUnreachable) holds for all of them; Unreachable is the
// same without a search.
var ErrUnreachable = errors.New("stack: the destination cannot be reached")

// A Cause is why something is unreachable.
type Cause struct{ text string }

func (c *Cause) Error() string { return "stack: " + c.text }

// Is makes every cause ErrUnreachable too.
func (c *Cause) Is(target error) bool { return target == ErrUnreachable }

// The causes.
var (
	// ErrNoName means that no socket is bound to the service, or to any of the range.
	ErrNoName error = &Cause{"no socket is bound to the service"}
	// ErrNoNode means that no node with the address is known.
	ErrNoNode error = &Cause{"no such node is known"}
	// ErrNoLink means that contact with the node is lost: no link to it is up.
	ErrNoLink error = &Cause{"no link to the node is up"}
	// ErrNoMember means that the group has no other member, or no such one.
	ErrNoMember error = &Cause{"the group has no such member"}
	// ErrEvicted means a member that was evicted from the group because it did not read.
	ErrEvicted error = &Cause{"the member was evicted from the group"}
)

// Unreachable reports whether err is ErrUnreachable or one of its causes, itself and not
// wrapped, as this package returns it.
func Unreachable(err error) bool {
	_, ok := err.(*Cause)
	return ok || err == ErrUnreachable
}

// noRoute is why reach found no node with the address.
func (e *Engine) noRoute(a frame.NodeAddr) error {
	if e.peer(a) == nil {
		return ErrNoNode
	}
	return ErrNoLink
}
