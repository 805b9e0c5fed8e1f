// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A Group is a socket in a group, of a node in this process.
type Group struct {
	writeHalf
	service frame.Service

	// Guarded by the node's lock.
	readHalf
	g       *engine.Group
	waiting poll.List // WaitMembers
	from    net.Addr  // of the last message, so that the next from there costs no allocation
	room    bool      // a Poller hands the group out also when there may be room for a send
}

// Join implements backend.Node.
func (n *Node) Join(ctx context.Context, c backend.GroupOptions, svc frame.Service) (backend.Group, error) {
	g := &Group{writeHalf: writeHalf{n: n, network: backend.GroupNetwork}, service: svc}
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	now := n.loop.Now()
	var of *engine.Port
	if p := hosting.MemberOf(ctx); p != nil {
		of = p.(interface{ member() *engine.Port }).member()
		g.room = true
	}
	var err error
	g.g, err = n.eng.Join(now, engine.GroupConfig{
		Service: svc, Scope: c.Scope, Importance: c.Importance, Loopback: c.Loopback, Events: c.Events,
		Policy: c.Policy, Limit: c.Limit, ReceiveLimit: c.ReceiveLimit, Account: hosting.AccountOf(ctx).Engine(), Owner: g, Of: of,
	})
	if err != nil {
		return nil, err
	}
	g.local = g.g.Addr()
	n.addSocket(g, "membership")
	n.pollOnce(now, false)
	return g, nil
}

// Members implements backend.Group.
func (g *Group) Members(context.Context) ([]engine.GroupMember, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Members(), nil
}

// WaitMembers implements backend.Group.
func (g *Group) WaitMembers(ctx context.Context, k int) error {
	n := g.n
	n.loop.Lock()
	defer n.loop.Unlock()
	began := n.loop.Now()
	c := poll.Wait{List: &g.waiting, Closed: &g.closed, Ctx: ctx}
	err := n.loop.Await(&c, func() bool { return g.g.Joined() >= k })
	n.loop.Leave(&c)
	if err != nil {
		return backend.OpError("wait", backend.GroupNetwork, g.local, g.service, &socket.MembersError{Joined: g.g.Joined(), Wanted: k, Waited: n.loop.Now() - began, Err: err})
	}
	return nil
}

// Counters implements backend.Group.
func (g *Group) Counters(context.Context) (engine.GroupCounters, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Counters(), nil
}

// moved is called by a poll after which there is more to read, room, or another member.
func (g *Group) moved() {
	if g.g.Pending() > 0 || g.g.Err() != nil || g.room {
		g.wake(g.n, false)
	}
	g.n.loop.RouseAll(g.writing)
	g.n.loop.RouseAll(g.waiting)
}

// Close implements backend.Socket.
func (g *Group) Close() error {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	if g.closed {
		return backend.OpError("close", g.network, g.local, nil, net.ErrClosed)
	}
	g.shut()
	g.n.pollOnce(g.n.loop.Now(), false)
	return nil
}

// shut implements openSocket.
func (g *Group) shut() {
	n := g.n
	g.closed = true
	g.went()
	n.removeSocket(g)
	g.g.Leave(n.loop.Now())
	g.wake(n, true)
	n.loop.RouseAll(g.writing)
	n.loop.RouseAll(g.waiting)
}

// SetDeadline implements backend.Socket.
func (g *Group) SetDeadline(of backend.Calls, t time.Time) error {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	if g.closed {
		return backend.OpError("set", g.network, g.local, nil, net.ErrClosed)
	}
	if of&backend.Reads != 0 {
		g.setReadBy(g.n, t)
	}
	if of&backend.Writes != 0 {
		g.setWriteBy(t)
	}
	return nil
}

// Read implements backend.Group.
func (g *Group) Read(b []byte) (k int, m backend.GroupEnvelope, err error) {
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

// Write implements backend.Group.
func (g *Group) Write(ctx context.Context, b []byte, d backend.Dest, addr net.Addr) (int, error) {
	err := g.n.submit(g, d, b)
	if err != nil {
		if err = g.retry(ctx, d, b, err); err != nil {
			return 0, g.SendError(addr, err)
		}
	}
	return len(b), nil
}

// retry waits and sends then. Others that wait for the same look when it has ended,
// however it did.
func (g *Group) retry(ctx context.Context, d backend.Dest, b []byte, err error) error {
	err = g.n.retry(ctx, g, d, b, err)
	g.n.loop.Lock()
	g.n.loop.RouseAll(g.writing)
	g.n.loop.Unlock()
	return err
}

// put implements sender. Writes to the same members keep their order.
func (g *Group) put(now time.Duration, d backend.Dest, data []byte) error {
	for _, w := range g.writing {
		if w == g.n.trying {
			break
		}
		if x := writeOf(w); x.dest == d || x.dest.Many() && d.Many() {
			return errTurn
		}
	}
	switch d.Kind {
	case backend.ToAll:
		return g.g.Send(now, data)
	case backend.ToService:
		return g.g.SendAnycast(now, d.Service().Instance, data)
	case backend.ToRange:
		return g.g.SendMulticast(now, d.All().Lower, data)
	}
	return g.g.SendTo(now, d.Socket(), data)
}

// waits implements sender.
func (g *Group) waits(_ backend.Dest, err error) bool {
	_, member := err.(*engine.MemberBlocked)
	return member || err == errTurn || blocks(err)
}

// TryReadMsg implements backend.Group.
func (g *Group) TryReadMsg(b []byte) (int, backend.GroupEnvelope, error) {
	n := g.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if g.closed {
		return 0, backend.GroupEnvelope{}, backend.OpError("read", g.network, g.local, nil, net.ErrClosed)
	}
	k, r, ok := g.g.Read(n.loop.Now(), b)
	if g.g.Spoke() { // it goes out now: a member may wait for it, on this node too
		n.pollOnce(n.loop.Now(), false)
	}
	switch {
	case !ok && g.g.Err() != nil:
		return 0, backend.GroupEnvelope{}, backend.OpError("read", g.network, g.local, nil, g.g.Err())
	case !ok:
		return 0, backend.GroupEnvelope{}, backend.ErrAgain
	}
	return k, g.message(&r, k), nil
}

// message tells what is known of a message of which k bytes were read. The node's lock is
// held.
func (g *Group) message(r *engine.GroupReceived, k int) backend.GroupEnvelope {
	if last, ok := g.from.(frame.SocketAddr); !ok || last != r.From {
		g.from = r.From
	}
	return backend.GroupEnvelope{
		Kind: r.Kind, From: r.From, Member: frame.Service{Type: g.service.Type, Instance: r.Instance},
		Private: r.Type == frame.GroupUcastMsg, Importance: r.Importance, Truncated: k < r.Len, Addr: g.from,
		Evicts: r.Evicts, Behind: r.Behind, Idle: r.Idle,
	}
}

// TryWrite implements backend.Group.
func (g *Group) TryWrite(b []byte, d backend.Dest, addr net.Addr) (int, error) {
	err := g.n.submit(g, d, b)
	switch {
	case err == nil:
		return len(b), nil
	case g.waits(d, err):
		return 0, backend.ErrAgain
	}
	return 0, g.SendError(addr, err)
}

// Stats implements backend.Socket.
func (g *Group) Stats(context.Context) (engine.PortStats, error) {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Stats(), nil
}

// Poll implements backend.Socket.
func (g *Group) Poll(p backend.Poller, owner any) *socket.Polled { return g.addTo(p, g.n, owner) }

// Hold implements backend.Socket.
func (g *Group) Hold(k int) { g.n.hold(g.g.Port(), k) }

// Room is hosting.Room.
func (g *Group) Room() bool {
	g.n.loop.Lock()
	defer g.n.loop.Unlock()
	return g.g.Room()
}
