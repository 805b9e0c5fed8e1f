// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/netdev"
)

// A BearerConfig is what a bearer that is enabled on a running node begins with, or
// what of it is to change. Zero fields mean the medium's values, or no change.
type BearerConfig struct {
	LinkConfig
	MTU    int      // of a bearer over UDP, bytes of a message, at most the device's; 0: the device's
	Domain NodeAddr // discovery answers nodes of it only: 0 all, Z.0.0 a zone's, Z.C.0 a cluster's, else one node
}

// EnableBearer makes dev one more bearer of the running node, at most three; the node
// owns it from now on, and closes it if this fails. The device's names must differ.
// Other nodes are looked for there at once. When the node has no address yet
// (Config.NoBearers) EnableBearer waits until it is settled, for a second of trial.
// The third bearer of one priority has the next lower one, as a kernel's.
//
// Errors, inside *net.OpError: a *Refusal with EINVAL, "Already enabled." for a second
// device of a name, ErrConfig where the settings cannot be, or the node's memory was
// made for shorter frames (Config.MTU); net.ErrClosed; the context's; the device's own;
// errors.ErrUnsupported of an attached node, which has RequestBearer.
func (n *Node) EnableBearer(ctx context.Context, dev netdev.Device, c BearerConfig) error {
	if dev == nil {
		return opError("enable bearer", "tipc", nil, nil, refused(fmt.Errorf("%w: no device", ErrConfig)))
	}
	return n.b.EnableBearer(ctx, dev, c)
}
