// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"strings"

	"github.com/utipc/utipc/stack/internal/backend"
)

// Dial connects with default options; see SocketConfig.Dial.
func (n *Node) Dial(ctx context.Context, network string, addr net.Addr) (*Conn, error) {
	return SocketConfig{}.Dial(ctx, n, network, addr)
}

// DialContext is Dial for those who name an address by its text, see ParseAddr, as
// http.Transport and gRPC do; "tcp" is taken for "tipc". After an address in its host form
// there may be a port, which http.Transport adds and which means nothing: a URL is
// "http://18888-17.tipc/", or "http://18888:17/". With "tipcrdm" or "tipcgram" it is
// DialPacket.
func (n *Node) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "tcp" {
		network = "tipc"
	}
	if host, port, err := net.SplitHostPort(address); err == nil && strings.Contains(host, ".") && port != "" {
		address = host
	}
	addr, err := ParseAddr(address)
	if err != nil {
		return nil, backend.OpError("dial", network, nil, nil, err)
	}
	if isPacket(network) {
		c, err := n.DialPacket(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := n.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Dial connects to a socket that listens under addr, a Service, of which those bound to
// it take turns, or at addr, a SocketAddr. network is "tipc" or "tipcpacket", and has to
// be what the listener is: a listener of the other one refuses the connection with
// ErrWrongNetwork, if its node and this one are of this implementation; with a kernel's, or an
// older one's, the two ends differ and nobody knows. It waits for room on the way there as
// a write does, and then for an answer; a listener whose backlog is full is asked again, and
// a socket that does not listen never answers. All of that together takes DialTimeout at
// most, counted from the call, but for the time in which nobody has bound the name, for
// which NameWait is the limit. With DialTimeout over the error is a *BlockedError, when
// there was no room, or a *ConnError.
// Errors, inside *net.OpError: net.UnknownNetworkError, ErrConfig, ErrUnreachable,
// *ConnError, *BlockedError, net.ErrClosed, the context's.
func (c SocketConfig) Dial(ctx context.Context, n *Node, network string, addr net.Addr) (*Conn, error) {
	return c.DialWith(ctx, n, network, addr, nil)
}

// DialWith is Dial whose request has the first message with it, up to 66000 bytes: the
// kernel's implied connect.
func (c SocketConfig) DialWith(ctx context.Context, n *Node, network string, addr net.Addr, first []byte) (*Conn, error) {
	s, err := c.dial(ctx, n, network, addr, first)
	if err != nil {
		return nil, backend.OpError("dial", network, nil, addr, err)
	}
	return s, nil
}

func (c SocketConfig) dial(ctx context.Context, n *Node, network string, addr net.Addr, first []byte) (*Conn, error) {
	stream, err := backend.Connected(network)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var d backend.Dest
	switch a := addr.(type) {
	case Service:
		d = backend.ServiceDest(a)
	case SocketAddr:
		d = backend.SocketDest(a)
	case nil:
		return nil, &net.AddrError{Err: "missing address"}
	default:
		return nil, &net.AddrError{Err: "not a service or socket address", Addr: addr.String()}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := n.b.Dial(ctx, backend.SocketOptions(c), network, stream, addr, d, first)
	if err != nil {
		return nil, err
	}
	return &Conn{b}, nil
}
