// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

// DisableBearer implements backend.Node.
func (n *Node) DisableBearer(ctx context.Context, name string) error {
	n.loop.Lock()
	a, ended := n.bearer(name), n.closing
	n.loop.Unlock()
	err := errNoBearer()
	switch {
	case ended:
		err = net.ErrClosed
	case a != nil:
		err = n.disable(ctx, a)
	case n.disableNoted(name):
		err = nil
	}
	if err != nil {
		return backend.OpError("disable bearer", "tipc", nil, nil, err)
	}
	return nil
}

func (n *Node) disable(ctx context.Context, a *attachment) error {
	n.loop.Lock()
	switch {
	case n.closing:
		n.loop.Unlock()
		return net.ErrClosed
	case a.leaving:
		n.loop.Unlock()
		return errNoBearer()
	}
	a.leaving = true
	n.eng.RemoveBearer(n.loop.Now(), a.id)
	n.pollOnce(n.loop.Now(), false)
	n.waitWhile(ctx, func() bool { return a.n > 0 || n.eng.Outgoing(a.id) > 0 }, leaveTimeout)
	n.detach(a)
	n.announce(a, admin.BearerDisabled)
	n.loop.Unlock()

	err := a.Device.Close()
	n.loop.Lock()
	defer n.loop.Unlock()
	n.loop.Retire(a.Device)
	n.waitWhile(context.Background(), func() bool { return n.loop.Retiring(a.Device) }, leaveTimeout)
	return err
}

// waitWhile waits as long as something is so, at most for d, or until the node ends or ctx
// is done. Nobody tells of the end of it: it is looked for.
func (n *Node) waitWhile(ctx context.Context, so func() bool, d time.Duration) {
	var list poll.List
	by := time.Now().Add(d)
	c := poll.Wait{List: &list, Closed: &n.closing, By: &by, Ctx: ctx}
	defer n.loop.Leave(&c)
	n.loop.Await(&c, func() bool {
		c.LookBy(time.Now().Add(poll.Retry))
		return !so()
	})
}

// detach takes a bearer out of the list. Frames that are left are lost.
func (n *Node) detach(a *attachment) {
	n.eng.RemoveBearer(n.loop.Now(), a.id)
	n.abandon(a)
	n.attached = slices.DeleteFunc(slices.Clone(n.attached), func(x *attachment) bool { return x == a })
	n.regroup() // needs nothing more than before
	n.loop.WakeAll()
}

// abandon gives back the frames that a bearer's device has not taken.
func (n *Node) abandon(a *attachment) {
	for i, f := range a.unsent[:a.n] {
		f.Release()
		a.unsent[i] = nil
	}
	a.n = 0
	n.eng.Abandon(a.id)
}

// leaveTimeout is how long DisableBearer waits for a device that is full to take the last
// frames.
const leaveTimeout = time.Second

func errNoBearer() error { return backend.Refuse(syscall.EINVAL, "Bearer not found.") }
