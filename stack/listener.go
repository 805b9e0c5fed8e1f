// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A Listener is a socket that accepts connections. It is safe for concurrent use.
type Listener struct {
	b    backend.Listener
	addr net.Addr // what Addr returns
}

var _ net.Listener = (*Listener)(nil)

// Listen makes a listening socket with default options; see SocketConfig.Listen.
func (n *Node) Listen(ctx context.Context, network string, addr net.Addr) (*Listener, error) {
	return SocketConfig{}.Listen(ctx, n, network, addr)
}

// Listen makes a socket for connections, "tipc" or "tipcpacket", and binds it to addr,
// a Service or a Range, or to nothing if addr is nil: whoever knows its LocalAddr can connect
// all the same. Errors, inside *net.OpError: net.UnknownNetworkError, ErrReserved,
// ErrRange, ErrConfig, ErrTooManySockets, net.ErrClosed, the context's.
func (c SocketConfig) Listen(ctx context.Context, n *Node, network string, addr net.Addr) (*Listener, error) {
	l, err := c.listenConn(ctx, n, network, addr)
	if err != nil {
		return nil, backend.OpError("listen", network, nil, addr, err)
	}
	return l, nil
}

func (c SocketConfig) listenConn(ctx context.Context, n *Node, network string, addr net.Addr) (*Listener, error) {
	stream, err := backend.Connected(network)
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
		if r, err = backend.Bindable(addr); err != nil {
			return nil, err
		}
	}
	b, err := n.b.Listen(ctx, backend.SocketOptions(c), network, stream, addr, r)
	if err != nil {
		return nil, err
	}
	if addr == nil {
		addr = b.Addr()
	}
	return &Listener{b, addr}, nil
}

// Addr is what others dial: the name that Listen was given, a Service or a Range, or
// without one the socket's own address. It stays the same whatever Bind and Unbind do.
func (l *Listener) Addr() net.Addr { return l.addr }

// LocalAddr is the socket's own address, a SocketAddr, whatever it is bound to.
func (l *Listener) LocalAddr() net.Addr { return l.b.Addr() }

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
func (l *Listener) AcceptConn() (*Conn, error) { return accepted(l.b.AcceptConn(context.Background())) }

// AcceptContext is AcceptConn that ctx ends too, with its error. A connection that comes as it ends
// is left for the next call.
func (l *Listener) AcceptContext(ctx context.Context) (*Conn, error) {
	return accepted(l.b.AcceptConn(ctx))
}

func accepted(b backend.Conn, err error) (*Conn, error) {
	if err != nil {
		return nil, err
	}
	return &Conn{b}, nil
}

// Bind binds the socket to one more Service or Range, with the scope it was made
// with. Errors as for Listen.
func (l *Listener) Bind(addr net.Addr) error { return l.b.Bind(addr) }

// Unbind takes back one binding to exactly this Service or Range. Errors:
// ErrNotBound.
func (l *Listener) Unbind(addr net.Addr) error { return l.b.Unbind(addr) }

// Close withdraws the socket's names and refuses the requests that wait. Connections
// that were accepted stay. Waiting calls end with net.ErrClosed, as a second Close does.
func (l *Listener) Close() error { return l.b.Close() }

// SetDeadline sets the time at which Accept ends with os.ErrDeadlineExceeded, waiting
// calls included; zero means never.
func (l *Listener) SetDeadline(t time.Time) error { return l.b.SetDeadline(backend.Reads, t) }
