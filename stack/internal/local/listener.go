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
	"github.com/utipc/utipc/stack/socket"
)

// A Listener is a listening socket of a node in this process.
type Listener struct {
	writeHalf // nothing is written: only what sockets have in common
	readHalf  // calls of Accept
	cfg       backend.SocketOptions
	unsettled bool // it does not wait when it binds exclusively
	stream    bool
	l         *engine.Listener
}

// Listen implements backend.Node.
func (n *Node) Listen(ctx context.Context, c backend.SocketOptions, network string, stream bool, addr net.Addr, r frame.Range) (backend.Listener, error) {
	l := &Listener{writeHalf: writeHalf{n: n, network: network}, cfg: c, stream: stream, unsettled: hosting.IsUnsettled(ctx)}
	if err := l.open(ctx, addr != nil && !c.Exclusive, r); err != nil {
		return nil, err
	}
	if addr != nil && c.Exclusive {
		if err := n.bindExclusive(ctx, l.l, r, !l.unsettled); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// open makes the socket, and binds it to r if it is to be bound.
func (l *Listener) open(ctx context.Context, bind bool, r frame.Range) error {
	n, c := l.n, &l.cfg
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return err
	}
	l.l = n.eng.Listen(engine.ListenConfig{Stream: l.stream, AnyKind: hosting.IsAnyKind(ctx), Backlog: c.Backlog, Ahead: c.AcceptAhead, ReceiveLimit: c.ReceiveLimit, NoDelay: c.NoDelay, Account: hosting.AccountOf(ctx).Engine(), Idle: hosting.IsIdle(ctx), Owner: l})
	if l.l == nil {
		return engine.ErrSockets
	}
	l.local = l.l.Addr()
	if bind {
		now := n.loop.Now()
		err := l.l.Bind(now, r, c.Scope)
		if err != nil {
			l.l.Close(now)
		}
		n.pollOnce(now, false)
		if err != nil {
			return err
		}
	}
	n.addSocket(l, "listener")
	return nil
}

// AcceptConn implements backend.Listener.
func (l *Listener) AcceptConn(ctx context.Context) (backend.Conn, error) {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var c *Conn
	var full error
	err := l.awaitContext(ctx, n, &l.closed, func() bool {
		if lost := l.l.Lost(); lost != nil {
			full = lost
			return true
		}
		if l.l.Pending() == 0 {
			return false
		}
		now := n.loop.Now()
		e, ok := l.l.Accept(now)
		if !ok {
			if l.l.Pending() > 0 {
				full = engine.ErrSockets
			}
			return full != nil
		}
		c = l.welcome(e)
		n.pollOnce(now, false)
		return true
	}, func() bool { return l.l.Pending() > 0 })
	if err == nil {
		err = full
	}
	if err != nil {
		return nil, backend.OpError("accept", l.network, l.local, nil, backend.Passing(err))
	}
	return c, nil
}

// welcome makes a socket of a connection.
func (l *Listener) welcome(e *engine.Conn) *Conn {
	c := &Conn{writeHalf: writeHalf{n: l.n, network: l.network, local: e.Addr(), inTurn: true}, stream: l.stream, remote: e.Peer(), c: e}
	e.Owner = c
	l.n.addSocket(c, "connection")
	return c
}

// Bind implements backend.Listener.
func (l *Listener) Bind(addr net.Addr) error { return l.BindScope(addr, l.cfg.Scope) }

// Unbind implements backend.Listener.
func (l *Listener) Unbind(addr net.Addr) error {
	scope := l.cfg.Scope
	if scope != frame.NodeScope {
		scope = frame.ClusterScope
	}
	return l.UnbindScope(addr, scope)
}

// BindScope implements backend.Listener.
func (l *Listener) BindScope(addr net.Addr, scope frame.Scope) error {
	if l.cfg.Exclusive {
		return l.n.rebindExclusive(&l.writeHalf, l.l, addr, scope, !l.unsettled)
	}
	return l.rebind("bind", addr, scope, (*engine.Listener).Bind)
}

// UnbindScope implements backend.Listener.
func (l *Listener) UnbindScope(addr net.Addr, scope frame.Scope) error {
	return l.rebind("unbind", addr, scope, (*engine.Listener).Unbind)
}

func (l *Listener) rebind(op string, addr net.Addr, scope frame.Scope, how func(*engine.Listener, time.Duration, frame.Range, frame.Scope) error) error {
	r, err := backend.Bindable(addr)
	if err == nil {
		l.n.loop.Lock()
		defer l.n.loop.Unlock()
		if err = net.ErrClosed; !l.closed {
			now := l.n.loop.Now()
			err = how(l.l, now, r, scope)
			l.n.pollOnce(now, false)
		}
	}
	if err != nil {
		return backend.OpError(op, l.network, l.local, addr, err)
	}
	return nil
}

// Close implements backend.Socket.
func (l *Listener) Close() error {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if l.closed {
		return backend.OpError("close", l.network, l.local, nil, net.ErrClosed)
	}
	l.shut()
	n.pollOnce(n.loop.Now(), false)
	return nil
}

// shut implements openSocket.
func (l *Listener) shut() {
	l.closed = true
	l.n.removeSocket(l)
	l.l.Close(l.n.loop.Now())
	l.wake(l.n, true)
}

// Start is hosting.Start.
func (l *Listener) Start() {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	l.l.Start()
}

// Refuse is hosting.Refuse.
func (l *Listener) Refuse() []uint32 {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	now := l.n.loop.Now()
	own := l.l.Refuse(now)
	l.n.pollOnce(now, false)
	return own
}

// SetDeadline implements backend.Socket.
func (l *Listener) SetDeadline(of backend.Calls, t time.Time) error {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	if l.closed {
		return backend.OpError("set", l.network, l.local, nil, net.ErrClosed)
	}
	if of&backend.Reads != 0 {
		l.setReadBy(l.n, t)
	}
	return nil
}

// Poll implements backend.Socket.
func (l *Listener) Poll(p backend.Poller, owner any) *socket.Polled { return l.addTo(p, l.n, owner) }

// Hold implements backend.Socket. What waits is requests, of which nothing is kept elsewhere.
func (l *Listener) Hold(int) {}

// Stats implements backend.Socket.
func (l *Listener) Stats(context.Context) (engine.PortStats, error) {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	return l.l.Stats(), nil
}

// TryAccept implements backend.Listener.
func (l *Listener) TryAccept() (backend.Conn, error) {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if l.closed {
		return nil, backend.OpError("accept", l.network, l.local, nil, net.ErrClosed)
	}
	if lost := l.l.Lost(); lost != nil {
		return nil, backend.OpError("accept", l.network, l.local, nil, lost)
	}
	if l.l.Pending() == 0 {
		return nil, backend.ErrAgain
	}
	now := n.loop.Now()
	e, ok := l.l.Accept(now)
	switch {
	case ok:
		c := l.welcome(e)
		n.pollOnce(now, false)
		return c, nil
	case l.l.Pending() > 0:
		return nil, backend.OpError("accept", l.network, l.local, nil, engine.ErrSockets)
	}
	return nil, backend.ErrAgain
}

// member is as of Packet.
func (l *Listener) member() *engine.Port { return l.l.Port() }
