// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
)

// Control makes a management call by its verb: in is what it takes, or nil, and out a
// pointer to what it tells, or nil; both travel as JSON. It is for calls that have no
// method of their own, as "clients" and "daemon" of an attached node, which tell of the
// daemon's programs and of itself; see docs/attach.md. Errors: syscall.ENOSYS without such
// a verb; syscall.EPERM where the daemon does not allow it; those of the call.
func (n *Node) Control(ctx context.Context, verb string, in, out any) error {
	if n.far != nil {
		return n.far.call(ctx, verb, in, out)
	}
	var words []byte
	var err error
	if in != nil {
		if words, err = json.Marshal(in); err != nil {
			return err
		}
	}
	told, err := ServeControl(ctx, n, verb, words)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(told, out)
}
