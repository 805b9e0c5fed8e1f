// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"time"
)

// Probe reports whether there is a socket with an address, of whatever kind, which
// notices nothing of it: nothing reaches its queue, and a connection it may have stays.
// rtt is how long the answer of its node took, 0 for a socket of this node. A socket that is there
// may stop being so at once. Errors, inside *net.OpError: ErrUnreachable without contact
// with the node, or when that is lost; *SilentError when ctx is done; net.ErrClosed.
func (n *Node) Probe(ctx context.Context, addr SocketAddr) (alive bool, rtt time.Duration, err error) {
	return n.b.Probe(ctx, addr)
}
