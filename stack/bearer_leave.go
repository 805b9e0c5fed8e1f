// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
)

// DisableBearer takes the bearer of that name, "eth0" or "eth:eth0", out of use and
// closes its device. What its links still had goes over other bearers, nothing of it is
// lost; nodes that no other bearer leads to are told, and contact with them ends.
// One that waits for its interface (NoteBearer) is no longer waited for.
// A device that is full is given a second for the last frames, or until ctx is done.
// Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not found.";
// net.ErrClosed; the device's own.
func (n *Node) DisableBearer(ctx context.Context, name string) error {
	return n.b.DisableBearer(ctx, name)
}
