// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A localListener is a listening socket of a node in this process.
type localListener struct {
	writeHalf // nothing is written: only what sockets have in common
	readHalf  // calls of Accept
	cfg       SocketConfig
	stream    bool
	l         *engine.Listener
}

// Listen implements nodeBackend.
func (n *localNode) Listen(_ context.Context, c SocketConfig, network string, stream bool, addr net.Addr, r Range) (listenerBackend, error) {
	l := &localListener{writeHalf: writeHalf{n: n, network: network}, cfg: c, stream: stream}
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	l.l = n.eng.Listen(engine.ListenConfig{Stream: stream, Backlog: c.Backlog, ReceiveLimit: c.ReceiveLimit, NoDelay: c.NoDelay, Account: c.account.Engine(), Owner: l})
	if l.l == nil {
		return nil, ErrTooManySockets
	}
	l.local = l.l.Addr()
	l.local.Net = network
	if addr != nil {
		now := n.loop.Now()
		err := l.l.Bind(now, r, c.Scope)
		if err != nil {
			l.l.Close(now)
		}
		n.pollOnce(now, false)
		if err != nil {
			return nil, err
		}
	}
	n.sockets[l] = struct{}{}
	return l, nil
}

// AcceptConn implements listenerBackend.
func (l *localListener) AcceptConn() (*Conn, error) {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	var c *Conn
	var full error
	err := l.await(n, &l.closed, func() bool {
		if l.l.Pending() == 0 {
			return false
		}
		now := n.loop.Now()
		e, ok := l.l.Accept(now)
		if !ok {
			if l.l.Pending() > 0 {
				full = ErrTooManySockets
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
		return nil, opError("accept", l.network, l.local, nil, passing(err))
	}
	return c, nil
}

// welcome makes a socket of a connection.
func (l *localListener) welcome(e *engine.Conn) *Conn {
	c := &localConn{writeHalf: writeHalf{n: l.n, network: l.network, local: e.Addr(), inTurn: true}, stream: l.stream, remote: e.Peer(), c: e}
	c.local.Net, c.remote.Net = l.network, l.network
	e.Owner = c
	l.n.sockets[c] = struct{}{}
	return &Conn{c}
}

// Bind implements listenerBackend.
func (l *localListener) Bind(addr net.Addr) error { return l.BindScope(addr, l.cfg.Scope) }

// Unbind implements listenerBackend.
func (l *localListener) Unbind(addr net.Addr) error {
	scope := l.cfg.Scope
	if scope != NodeScope {
		scope = ClusterScope
	}
	return l.UnbindScope(addr, scope)
}

// BindScope implements listenerBackend.
func (l *localListener) BindScope(addr net.Addr, scope Scope) error {
	return l.rebind("bind", addr, scope, (*engine.Listener).Bind)
}

// UnbindScope implements listenerBackend.
func (l *localListener) UnbindScope(addr net.Addr, scope Scope) error {
	return l.rebind("unbind", addr, scope, (*engine.Listener).Unbind)
}

func (l *localListener) rebind(op string, addr net.Addr, scope Scope, how func(*engine.Listener, time.Duration, Range, Scope) error) error {
	r, err := bindable(addr)
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
		return opError(op, l.network, l.local, addr, err)
	}
	return nil
}

// Close implements socketBackend.
func (l *localListener) Close() error {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if l.closed {
		return opError("close", l.network, l.local, nil, net.ErrClosed)
	}
	l.shut()
	n.pollOnce(n.loop.Now(), false)
	return nil
}

// shut implements socket.
func (l *localListener) shut() {
	l.closed = true
	delete(l.n.sockets, l)
	l.l.Close(l.n.loop.Now())
	l.wake(l.n, true)
}

// SetDeadlines implements socketBackend.
func (l *localListener) SetDeadlines(read, _ *time.Time) error {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	if l.closed {
		return opError("set", l.network, l.local, nil, net.ErrClosed)
	}
	if read != nil {
		l.setReadBy(l.n, *read)
	}
	return nil
}

// poll implements socketBackend.
func (l *localListener) poll(p *Poller, owner any) *Polled { return l.addTo(p, l.n, owner) }

// hold implements socketBackend. What waits is requests, of which nothing is kept elsewhere.
func (l *localListener) hold(int) {}

// Stats implements socketBackend.
func (l *localListener) Stats(context.Context) (SocketStats, error) {
	l.n.loop.Lock()
	defer l.n.loop.Unlock()
	return l.l.Stats(), nil
}

// TryAccept implements listenerBackend.
func (l *localListener) TryAccept() (*Conn, error) {
	n := l.n
	n.loop.Lock()
	defer n.loop.Unlock()
	if l.closed {
		return nil, opError("accept", l.network, l.local, nil, net.ErrClosed)
	}
	if l.l.Pending() == 0 {
		return nil, errAgain
	}
	now := n.loop.Now()
	e, ok := l.l.Accept(now)
	switch {
	case ok:
		c := l.welcome(e)
		n.pollOnce(now, false)
		return c, nil
	case l.l.Pending() > 0:
		return nil, opError("accept", l.network, l.local, nil, ErrTooManySockets)
	}
	return nil, errAgain
}
