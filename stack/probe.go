// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A SilentError is why a probe, or a subscription at another node, was given up: the node
// has not answered. It unwraps to what the context said.
type SilentError struct {
	Node   NodeAddr
	Link   string // to it; empty while there is none
	Waited time.Duration
	Err    error
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("no answer from node %v on link %q for %v: %v", e.Node, e.Link, e.Waited.Round(time.Microsecond), e.Err)
}

// Unwrap returns what the context said.
func (e *SilentError) Unwrap() error { return e.Err }

// Timeout reports whether the context's deadline was over.
func (e *SilentError) Timeout() bool { return errors.Is(e.Err, context.DeadlineExceeded) }

// Temporary is as Timeout.
func (e *SilentError) Temporary() bool { return e.Timeout() }

// Probe reports whether there is a socket with an address, of whatever kind, which
// notices nothing of it: nothing reaches its queue, and a connection it may have stays.
// rtt is how long the answer of its node took, 0 for a socket of this node. A socket that is there
// may stop being so at once. Errors, inside *net.OpError: ErrUnreachable without contact
// with the node, or when that is lost; *SilentError when ctx is done; net.ErrClosed.
func (n *Node) Probe(ctx context.Context, addr SocketAddr) (alive bool, rtt time.Duration, err error) {
	return n.b.Probe(ctx, addr)
}
