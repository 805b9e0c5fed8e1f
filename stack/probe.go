// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long a probe waits before it asks once more: for an answer, and for memory.
const (
	probeAgain  = time.Second
	probeMemory = 20 * time.Millisecond
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
	if n.far != nil {
		return n.far.probe(ctx, addr)
	}
	if alive, rtt, err = n.probe(ctx, addr); err != nil {
		return false, 0, opError("probe", "tipc", nil, addr, err)
	}
	return alive, rtt, nil
}

func (n *Node) probe(ctx context.Context, addr SocketAddr) (alive bool, rtt time.Duration, err error) {
	n.mu.Lock()
	defer n.unlock()
	if err := n.running(); err != nil {
		return false, 0, err
	}
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	var asking waitList
	began := n.now()
	first := began
	q, err := n.eng.Probe(began, addr, &asking)
	if q == nil {
		return false, 0, err
	}
	defer func() { q.Close(n.latest) }()
	n.lap(began, false)
	if alive, rtt, ok, err := q.Result(); ok {
		return alive, rtt, err
	}
	c := wait{list: &asking, ctx: ctx}
	defer n.leave(&c)
	pause := func() time.Duration {
		if err != nil {
			return probeMemory
		}
		return probeAgain
	}
	var failed error
	for again, answered := began+pause(), false; ; {
		why := n.await(&c, func() bool {
			if alive, rtt, answered, failed = q.Result(); answered {
				return true
			}
			left := again - n.now()
			c.lookBy(time.Now().Add(left))
			return left <= 0
		})
		switch {
		case why != nil:
			return false, 0, &SilentError{addr.Node, n.eng.LinkName(addr.Node), n.now() - first, why}
		case answered:
			return alive, rtt, failed
		}
		began = n.now()
		err = q.Again(began)
		n.lap(began, false)
		again = began + pause()
	}
}

// endProbes wakes the calls whose probes have ended.
func (n *Node) endProbes() {
	n.probed = n.eng.TakeProbes(n.probed[:0])
	for i, q := range n.probed {
		n.rouseAll(*q.Owner.(*waitList))
		n.probed[i] = nil
	}
}
