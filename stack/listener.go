// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/engine"
)

// A Listener is a socket that accepts connections. It is safe for concurrent use.
type Listener struct {
	writeHalf // nothing is: only what sockets have in common
	readHalf  // calls of Accept
	cfg       SocketConfig
	stream    bool
	l         *engine.Listener
}

var _ net.Listener = (*Listener)(nil)

// Listen makes a listening socket with default options; see SocketConfig.Listen.
func (n *Node) Listen(ctx context.Context, network string, addr net.Addr) (*Listener, error) {
	return SocketConfig{}.Listen(ctx, n, network, addr)
}

// Listen makes a socket for connections, "tipc" or "tipcpacket", and binds it to addr,
// a Service or a Range, or to nothing if addr is nil: who knows its Addr can connect
// all the same. Errors, inside *net.OpError: net.UnknownNetworkError, ErrReserved,
// ErrRange, ErrConfig, ErrTooManySockets, net.ErrClosed, the context's.
func (c SocketConfig) Listen(ctx context.Context, n *Node, network string, addr net.Addr) (*Listener, error) {
	l, err := c.listenConn(ctx, n, network, addr)
	if err != nil {
		return nil, opError("listen", network, nil, addr, err)
	}
	return l, nil
}

func (c SocketConfig) listenConn(ctx context.Context, n *Node, network string, addr net.Addr) (*Listener, error) {
	stream, err := connected(network)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var r Range
	if addr != nil {
		if r, err = bindable(addr); err != nil {
			return nil, err
		}
	}
	if n.far != nil {
		return c.listenConnFar(ctx, n, network, addr, r)
	}
	l := &Listener{writeHalf: writeHalf{n: n, network: network}, cfg: c, stream: stream}
	n.mu.Lock()
	defer n.unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	l.l = n.eng.Listen(engine.ListenConfig{Stream: stream, Backlog: c.Backlog, ReceiveLimit: c.ReceiveLimit, NoDelay: c.NoDelay, Account: c.Account.account(), Owner: l})
	if l.l == nil {
		return nil, ErrTooManySockets
	}
	l.local = l.l.Addr()
	l.local.Net = network
	if addr != nil {
		now := n.now()
		err := l.l.Bind(now, r, c.Scope)
		if err != nil {
			l.l.Close(now)
		}
		n.lap(now, false)
		if err != nil {
			return nil, err
		}
	}
	n.sockets[l] = struct{}{}
	return l, nil
}

// Addr is the socket's own address, a SocketAddr, whatever it is bound to.
func (l *Listener) Addr() net.Addr { return l.own() }

// Accept waits for a connection, of an attached node while the daemon is away too. Errors,
// inside *net.OpError: net.ErrClosed, os.ErrDeadlineExceeded, *ReattachError; ErrTooManySockets,
// and syscall.EMFILE, EUSERS and others of the daemon's limits, which are Temporary: net/http and
// gRPC try again after them.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// AcceptConn is Accept that returns a *Conn.
func (l *Listener) AcceptConn() (*Conn, error) {
	if l.far != nil {
		c, err := l.acceptFar()
		if err != nil {
			return nil, l.far.opError("accept", nil, err)
		}
		return c, nil
	}
	n := l.n
	n.mu.Lock()
	defer n.unlock()
	var c *Conn
	var full error
	err := l.await(n, &l.closed, func() bool {
		if l.l.Pending() == 0 {
			return false
		}
		now := n.now()
		e, ok := l.l.Accept(now)
		if !ok {
			if l.l.Pending() > 0 {
				full = ErrTooManySockets
			}
			return full != nil
		}
		c = l.welcome(e)
		n.lap(now, false)
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
func (l *Listener) welcome(e *engine.Conn) *Conn {
	c := &Conn{writeHalf: writeHalf{n: l.n, network: l.network, local: e.Addr(), inTurn: true}, stream: l.stream, remote: e.Peer(), c: e}
	c.local.Net, c.remote.Net = l.network, l.network
	e.Owner = c
	l.n.sockets[c] = struct{}{}
	return c
}

// Bind binds the socket to one more Service or Range, with the scope it was made
// with. Errors as for Listen.
func (l *Listener) Bind(addr net.Addr) error {
	if l.far != nil {
		return l.far.bind(attach.OpBind, addr, l.cfg.Scope)
	}
	return l.rebind("bind", addr, l.cfg.Scope, (*engine.Listener).Bind)
}

// Unbind takes back one binding to exactly this Service or Range. Errors:
// ErrNotBound.
func (l *Listener) Unbind(addr net.Addr) error {
	if l.far != nil {
		return l.far.bind(attach.OpUnbind, addr, l.cfg.Scope)
	}
	scope := l.cfg.Scope
	if scope != NodeScope {
		scope = ClusterScope
	}
	return l.rebind("unbind", addr, scope, (*engine.Listener).Unbind)
}

func (l *Listener) rebind(op string, addr net.Addr, scope Scope, how func(*engine.Listener, time.Duration, Range, Scope) error) error {
	r, err := bindable(addr)
	if err == nil {
		l.n.mu.Lock()
		defer l.n.unlock()
		if err = net.ErrClosed; !l.closed {
			now := l.n.now()
			err = how(l.l, now, r, scope)
			l.n.lap(now, false)
		}
	}
	if err != nil {
		return opError(op, l.network, l.local, addr, err)
	}
	return nil
}

// Close withdraws the socket's names and refuses the requests that wait. Connections
// that were accepted stay. Waiting calls end with net.ErrClosed, as a second Close does.
func (l *Listener) Close() error {
	if l.far != nil {
		return l.far.close("close", true)
	}
	n := l.n
	n.mu.Lock()
	defer n.unlock()
	if l.closed {
		return opError("close", l.network, l.local, nil, net.ErrClosed)
	}
	l.shut()
	n.lap(n.now(), false)
	return nil
}

// shut implements socket.
func (l *Listener) shut() {
	l.closed = true
	delete(l.n.sockets, l)
	l.l.Close(l.n.now())
	l.wake(l.n, true)
}

// SetDeadline sets the time at which Accept ends with os.ErrDeadlineExceeded, waiting
// calls included; zero means never.
func (l *Listener) SetDeadline(t time.Time) error {
	if l.far != nil {
		return l.far.setDeadlines(&t, nil)
	}
	l.n.mu.Lock()
	defer l.n.unlock()
	if l.closed {
		return opError("set", l.network, l.local, nil, net.ErrClosed)
	}
	l.setReadBy(l.n, t)
	return nil
}
