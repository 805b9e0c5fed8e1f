// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// How long nodes are waited for before they are asked again whether they know the names: at first, and
// at most.
const (
	publishedSoon = 10 * time.Millisecond
	publishedLate = time.Second
)

// WaitPublished implements backend.Node.
func (n *Node) WaitPublished(ctx context.Context) error {
	if err := n.waitPublished(ctx); err != nil {
		return backend.OpError("publish", "tipc", nil, nil, err)
	}
	return nil
}

func (n *Node) waitPublished(ctx context.Context) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var asking poll.List
	began := n.loop.Now()
	p, err := n.eng.AskNames(began, &asking)
	if err != nil {
		return err
	}
	defer func() { p.Close(n.latest) }()
	n.pollOnce(began, false)
	c := poll.Wait{List: &asking, Ctx: ctx}
	defer n.loop.Leave(&c)
	for pause := publishedSoon; ; pause = min(2*pause, publishedLate) {
		again, over := n.loop.Now()+pause, false
		why := n.loop.Await(&c, func() bool {
			if _, _, over, err = p.Probe().Result(); over {
				return true
			}
			left := again - n.loop.Now()
			c.LookBy(time.Now().Add(left))
			return left <= 0
		})
		switch {
		case why != nil:
			to := p.Left()
			return &socket.SilentError{Node: to, Link: n.eng.LinkName(to), Waited: n.loop.Now() - began, Err: why}
		case over:
			return err
		}
		now := n.loop.Now()
		p.Again(now)
		n.pollOnce(now, false)
	}
}
