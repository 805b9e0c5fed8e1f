// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
)

// DisableBearer implements nodeBackend.
func (n *localNode) DisableBearer(ctx context.Context, name string) error {
	n.mu.Lock()
	a, ended := n.bearer(name), n.closing
	n.unlock()
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
		return opError("disable bearer", "tipc", nil, nil, err)
	}
	return nil
}

func (n *localNode) disable(ctx context.Context, a *attachment) error {
	n.mu.Lock()
	switch {
	case n.closing:
		n.unlock()
		return net.ErrClosed
	case a.leaving:
		n.unlock()
		return errNoBearer()
	}
	a.leaving = true
	n.eng.RemoveBearer(n.now(), a.id)
	n.pollOnce(n.now(), false)
	n.waitWhile(ctx, func() bool { return a.n > 0 || n.eng.Outgoing(a.id) > 0 }, leaveTimeout)
	n.detach(a)
	n.announce(a, admin.BearerDisabled)
	n.unlock()

	err := a.dev.Close()
	n.mu.Lock()
	defer n.unlock()
	n.closingDevices = append(n.closingDevices, closingDevice{a.dev, n.generation})
	n.reapClosed()
	n.rouseParkers()
	n.waitWhile(context.Background(), func() bool {
		return slices.ContainsFunc(n.closingDevices, func(b closingDevice) bool { return b.dev == a.dev })
	}, leaveTimeout)
	return err
}

// waitWhile waits as long as something is so, at most for d, or until the node ends or ctx
// is done. Nobody tells of the end of it: it is looked for.
func (n *localNode) waitWhile(ctx context.Context, so func() bool, d time.Duration) {
	var list waitList
	by := time.Now().Add(d)
	c := wait{list: &list, closed: &n.closing, by: &by, ctx: ctx}
	defer n.leave(&c)
	n.await(&c, func() bool {
		c.lookBy(time.Now().Add(retry))
		return !so()
	})
}

// detach takes a bearer out of the list. Frames that are left are lost.
func (n *localNode) detach(a *attachment) {
	n.eng.RemoveBearer(n.now(), a.id)
	n.abandon(a)
	n.attached = slices.DeleteFunc(slices.Clone(n.attached), func(x *attachment) bool { return x == a })
	n.regroup() // needs nothing more than before
	n.rouseParkers()
}

// abandon gives back the frames that a bearer's device has not taken.
func (n *localNode) abandon(a *attachment) {
	for i, f := range a.unsent[:a.n] {
		f.Release()
		a.unsent[i] = nil
	}
	a.n = 0
	n.eng.Abandon(a.id)
}

// reapClosed lets go of the descriptors that nobody polls any more.
func (n *localNode) reapClosed() {
	n.closingDevices = slices.DeleteFunc(n.closingDevices, func(b closingDevice) bool {
		for _, s := range []*parker{&n.callParker, &n.backgroundParker} {
			if s.inside && s.fitted < b.generation {
				return false
			}
		}
		b.dev.Receive(nil) // which answers net.ErrClosed, and closes the descriptor
		return true
	})
}

// leaveTimeout is how long DisableBearer waits for a device that is full to take the last
// frames.
const leaveTimeout = time.Second

func errNoBearer() error { return refuse(syscall.EINVAL, "Bearer not found.") }

// A closingDevice is a device that is closed, but whose descriptor may still be polled by who
// sleeps with an older list of bearers: until that ends what the descriptor stood for,
// an address that is bound, say, is not free either.
type closingDevice struct {
	dev        netdev.Device
	generation int
}
