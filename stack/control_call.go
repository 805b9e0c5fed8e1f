// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
)

// Control makes a management call by its verb: in is what it takes, or nil, and out a
// pointer to what it tells, or nil; both travel as JSON. It is for calls that have no
// method of their own, as "clients" and "daemon" of an attached node, which tell of the
// daemon's programs and of itself; see docs/attach.md. Errors: syscall.ENOSYS without such
// a verb; syscall.EPERM where the daemon does not allow it; those of the call.
func (n *Node) Control(ctx context.Context, verb string, in, out any) error {
	return n.b.Control(ctx, verb, in, out)
}
