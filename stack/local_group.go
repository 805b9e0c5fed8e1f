// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A localGroup is a socket in a group, of a node in this process.
type localGroup struct {
	writeHalf
	service Service

	// Guarded by the node's lock.
	readHalf
	g       *engine.Group
	waiting poll.List // WaitMembers
	from    net.Addr  // of the last message, so that the next from there costs no allocation
}

// Join implements nodeBackend.
func (n *localNode) Join(_ context.Context, c GroupConfig, svc Service) (groupBackend, error) {
	g := &localGroup{writeHalf: writeHalf{n: n, network: groupNetwork}, service: svc}
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	now := n.loop.Now()
	var err error
	g.g, err = n.eng.Join(now, engine.GroupConfig{
		Service: svc, Scope: c.Scope, Importance: c.Importance, Loopback: c.Loopback, Events: c.Events,
		Policy: c.Policy, Limit: c.Limit, ReceiveLimit: c.ReceiveLimit, Account: c.account.Engine(), Owner: g,
	})
	if err != nil {
		return nil, err
	}
	g.local = g.g.Addr()
	g.local.Net = groupNetwork
	n.sockets[g] = struct{}{}
	n.pollOnce(now, false)
	return g, nil
}

// Members implements groupBackend.
func (g *localGroup) Members(context.Context) ([]GroupMember, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	all := g.g.Members()
	for i := range all {
		all[i].Addr.Net = groupNetwork
	}
	return all, nil
}

// WaitMembers implements groupBackend.
func (g *localGroup) WaitMembers(ctx context.Context, k int) error {
	n := g.n
	n.loop.Lock()
	defer n.loop.Unlock()
	began := n.loop.Now()
	c := poll.Wait{List: &g.waiting, Closed: &g.closed, Ctx: ctx}
	err := n.loop.Await(&c, func() bool { return g.g.Joined() >= k })
	n.loop.Leave(&c)
	if err != nil {
		return opError("wait", groupNetwork, g.local, g.service, &MembersError{g.g.Joined(), k, n.loop.Now() - began, err})
	}
	return nil
}

// Counters implements groupBackend.
func (g *localGroup) Counters(context.Context) (GroupCounters, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Counters(), nil
}

// moved is called by a poll after which there is more to read, room, or another member.
func (g *localGroup) moved() {
	if g.g.Pending() > 0 || g.g.Err() != nil {
		g.wake(g.n, false)
	}
	g.n.loop.RouseAll(g.writing)
	g.n.loop.RouseAll(g.waiting)
}

// Close implements socketBackend.
func (g *localGroup) Close() error {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	if g.closed {
		return opError("close", g.network, g.local, nil, net.ErrClosed)
	}
	g.shut()
	g.n.pollOnce(g.n.loop.Now(), false)
	return nil
}

// shut implements socket.
func (g *localGroup) shut() {
	n := g.n
	g.closed = true
	g.went()
	delete(n.sockets, g)
	g.g.Leave(n.loop.Now())
	g.wake(n, true)
	n.loop.RouseAll(g.writing)
	n.loop.RouseAll(g.waiting)
}

// SetDeadlines implements socketBackend.
func (g *localGroup) SetDeadlines(read, write *time.Time) error {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	if g.closed {
		return opError("set", g.network, g.local, nil, net.ErrClosed)
	}
	if read != nil {
		g.setReadBy(g.n, *read)
	}
	if write != nil {
		g.setWriteBy(*write)
	}
	return nil
}

// Read implements groupBackend.
func (g *localGroup) Read(b []byte) (k int, m groupEnvelope, err error) {
	n := g.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var left error
	err = g.await(n, &g.closed, func() bool {
		if g.g.Pending() == 0 {
			left = g.g.Err()
			return left != nil
		}
		var r engine.GroupReceived
		var ok bool
		if k, r, ok = g.g.Read(n.loop.Now(), b); ok {
			m = g.message(&r, k)
		}
		return ok
	}, func() bool { return g.g.Pending() > 0 || g.g.Err() != nil })
	if err == nil {
		err = left
	}
	if g.g.Spoke() { // it goes out now: a member may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	return k, m, err
}

// Write implements groupBackend.
func (g *localGroup) Write(ctx context.Context, b []byte, d dest, addr net.Addr) (int, error) {
	err := g.n.submit(g, d, b)
	if err != nil {
		if err = g.retry(ctx, d, b, err); err != nil {
			return 0, g.sendError(addr, err)
		}
	}
	return len(b), nil
}

// retry waits and sends then. Others that wait for the same look when it has ended,
// however it did.
func (g *localGroup) retry(ctx context.Context, d dest, b []byte, err error) error {
	err = g.n.retry(ctx, g, d, b, err)
	g.n.loop.Lock()
	g.n.loop.RouseAll(g.writing)
	g.n.loop.Unlock()
	return err
}

// put implements sender. Writes to the same members keep their order.
func (g *localGroup) put(now time.Duration, d dest, data []byte) error {
	for _, w := range g.writing {
		if w == g.n.trying {
			break
		}
		if x := writeOf(w); x.dest == d || x.dest.many() && d.many() {
			return errTurn
		}
	}
	switch d.kind {
	case toAll:
		return g.g.Send(now, data)
	case toService:
		return g.g.SendAnycast(now, d.service().Instance, data)
	case toRange:
		return g.g.SendMulticast(now, d.all().Lower, data)
	}
	return g.g.SendTo(now, d.socket(), data)
}

// waits implements sender.
func (g *localGroup) waits(_ dest, err error) bool {
	_, member := err.(*engine.MemberBlocked)
	return member || err == errTurn || blocks(err)
}

// TryReadMsg implements groupBackend.
func (g *localGroup) TryReadMsg(b []byte) (int, groupEnvelope, error) {
	n := g.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if g.closed {
		return 0, groupEnvelope{}, opError("read", g.network, g.local, nil, net.ErrClosed)
	}
	k, r, ok := g.g.Read(n.loop.Now(), b)
	if g.g.Spoke() { // it goes out now: a member may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	switch {
	case !ok && g.g.Err() != nil:
		return 0, groupEnvelope{}, opError("read", g.network, g.local, nil, g.g.Err())
	case !ok:
		return 0, groupEnvelope{}, errAgain
	}
	return k, g.message(&r, k), nil
}

// message tells what is known of a message of which k bytes were read. The node's lock is
// held.
func (g *localGroup) message(r *engine.GroupReceived, k int) groupEnvelope {
	r.From.Net = g.network
	if last, ok := g.from.(SocketAddr); !ok || last != r.From {
		g.from = r.From
	}
	return groupEnvelope{
		Kind: r.Kind, From: r.From, Member: Service{Type: g.service.Type, Instance: r.Instance},
		Private: r.Type == frame.GroupUcastMsg, Importance: r.Importance, Truncated: k < r.Len, addr: g.from,
	}
}

// TryWrite implements groupBackend.
func (g *localGroup) TryWrite(b []byte, d dest, addr net.Addr) (int, error) {
	err := g.n.submit(g, d, b)
	switch {
	case err == nil:
		return len(b), nil
	case g.waits(d, err):
		return 0, errAgain
	}
	return 0, g.sendError(addr, err)
}

// Stats implements socketBackend.
func (g *localGroup) Stats(context.Context) (SocketStats, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Stats(), nil
}

// poll implements socketBackend.
func (g *localGroup) poll(p *Poller, owner any) *Polled { return g.addTo(p, g.n, owner) }

// hold implements socketBackend.
func (g *localGroup) hold(k int) { g.n.hold(g.g.Port(), k) }
