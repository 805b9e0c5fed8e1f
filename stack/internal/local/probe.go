// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// Probe implements backend.Node.
func (n *Node) Probe(ctx context.Context, addr frame.SocketAddr) (alive bool, rtt time.Duration, err error) {
	if alive, rtt, err = n.probe(ctx, addr); err != nil {
		return false, 0, backend.OpError("probe", "tipc", nil, addr, err)
	}
	return alive, rtt, nil
}

func (n *Node) probe(ctx context.Context, addr frame.SocketAddr) (alive bool, rtt time.Duration, err error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return false, 0, err
	}
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	var asking poll.List
	began := n.loop.Now()
	first := began
	q, err := n.eng.Probe(began, addr, &asking)
	if q == nil {
		return false, 0, err
	}
	defer func() { q.Close(n.latest) }()
	n.pollOnce(began, false)
	if alive, rtt, ok, err := q.Result(); ok {
		return alive, rtt, err
	}
	c := poll.Wait{List: &asking, Ctx: ctx}
	defer n.loop.Leave(&c)
	pause := func() time.Duration {
		if err != nil {
			return probeMemory
		}
		return probeAgain
	}
	var failed error
	for again, answered := began+pause(), false; ; {
		why := n.loop.Await(&c, func() bool {
			if alive, rtt, answered, failed = q.Result(); answered {
				return true
			}
			left := again - n.loop.Now()
			c.LookBy(time.Now().Add(left))
			return left <= 0
		})
		switch {
		case why != nil:
			return false, 0, &socket.SilentError{Node: addr.Node, Link: n.eng.LinkName(addr.Node), Waited: n.loop.Now() - first, Err: why}
		case answered:
			return alive, rtt, failed
		}
		began = n.loop.Now()
		err = q.Again(began)
		n.pollOnce(began, false)
		again = began + pause()
	}
}

// endProbes wakes the calls whose probes have ended.
func (n *Node) endProbes() {
	n.probed = n.eng.TakeProbes(n.probed[:0])
	for i, q := range n.probed {
		n.loop.RouseAll(*q.Owner.(*poll.List))
		n.probed[i] = nil
	}
}

// How long a probe waits before it asks once more: for an answer, and for memory.
const (
	probeAgain  = time.Second
	probeMemory = 20 * time.Millisecond
)
