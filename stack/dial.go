// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// Dial connects with default options; see SocketConfig.Dial.
func (n *Node) Dial(ctx context.Context, network string, addr net.Addr) (*Conn, error) {
	return SocketConfig{}.Dial(ctx, n, network, addr)
}

// DialContext is Dial for those who name an address by its text, see ParseAddr, as
// http.Transport and gRPC do; "tcp" is taken for "tipc", so that a URL may be
// "http://18888:17/". With "tipcrdm" or "tipcgram" it is DialPacket.
func (n *Node) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "tcp" {
		network = "tipc"
	}
	addr, err := ParseAddr(address)
	if err != nil {
		return nil, opError("dial", network, nil, nil, err)
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
// be what the listener is: the wire does not tell. It waits for room on the way there as
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
		return nil, opError("dial", network, nil, addr, err)
	}
	return s, nil
}

func (c SocketConfig) dial(ctx context.Context, n *Node, network string, addr net.Addr, first []byte) (*Conn, error) {
	stream, err := connected(network)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var d dest
	switch a := addr.(type) {
	case Service:
		d = serviceDest(a)
	case SocketAddr:
		d = socketDest(a)
	case nil:
		return nil, &net.AddrError{Err: "missing address"}
	default:
		return nil, &net.AddrError{Err: "not a service or socket address", Addr: addr.String()}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n.far != nil {
		return c.dialFar(ctx, n, network, addr, first)
	}
	began := n.now()
	limit := cmp.Or(c.DialTimeout, engine.DefaultConnTimeout)
	s := &Conn{writeHalf: writeHalf{n: n, network: network, nameWait: c.patience(n.cfg), inTurn: true}, stream: stream, dialing: true}
	s.writeBy = time.Now().Add(limit)
	s.cfg = &dialConfig{limit, engine.ConnConfig{
		Importance: c.Importance, Stream: stream, ReceiveLimit: c.ReceiveLimit, NoDelay: c.NoDelay, Account: c.Account.account(), Owner: s,
	}}
	if err := n.enroll(s); err != nil {
		return nil, err
	}
	if err = n.submit(s, d, first); err != nil {
		err = n.retry(ctx, s, d, first, err)
	}
	if err == nil {
		err = s.answer(ctx, began)
	}
	if err != nil {
		s.Abort()
		return nil, err
	}
	return s, nil
}

// enroll makes a Conn known to its node. Errors: net.ErrClosed.
func (n *Node) enroll(s *Conn) error {
	n.mu.Lock()
	defer n.unlock()
	if err := n.running(); err != nil {
		return err
	}
	s.local.Node = n.eng.Address()
	n.sockets[s] = struct{}{}
	return nil
}

// connected reports what connections of a network are. Errors: net.UnknownNetworkError.
func connected(network string) (stream bool, err error) {
	switch network {
	case "tipc":
		return true, nil
	case "tipcpacket":
		return false, nil
	}
	return false, net.UnknownNetworkError(network)
}

// A dialConfig is what Dial asks for. Until it has it, its limit is the socket's write
// deadline.
type dialConfig struct {
	limit time.Duration // of all of Dial, but for the time in which nobody has bound the name
	engine.ConnConfig
}

// request asks for the connection, which has what is left of the time. The lap lock is held.
func (c *Conn) request(now time.Duration, d dest, first []byte) (err error) {
	if c.writeBy.IsZero() { // the name has appeared, perhaps
		c.writeBy = time.Now().Add(c.cfg.limit)
	}
	c.cfg.Timeout = max(1, time.Until(c.writeBy))
	if d.kind == toService {
		c.c, err = c.n.eng.DialService(now, c.cfg.ConnConfig, d.service(), first)
	} else {
		c.c, err = c.n.eng.Dial(now, c.cfg.ConnConfig, d.socket(), first)
	}
	switch {
	case err == nil:
		c.local = c.c.Addr()
		c.local.Net = c.network
	case c.awaits(d, err): // so long as NameWait says
		c.writeBy = time.Time{}
	}
	return err
}

// answer waits until the peer has answered, or the engine's own time for that is over.
// Errors: *ConnError, net.ErrClosed.
func (c *Conn) answer(ctx context.Context, began time.Duration) error {
	n := c.n
	n.mu.Lock()
	defer n.unlock()
	w := wait{list: &c.readers, closed: &c.closed, ctx: ctx}
	over := n.await(&w, func() bool { return c.c.State() != engine.Connecting })
	n.leave(&w)
	waited := (n.now() - began).Round(time.Microsecond)
	switch {
	case over == net.ErrClosed:
		return over
	case over != nil && c.c.State() == engine.Connecting:
		return &ConnError{Peer: c.c.Peer(), Reason: fmt.Sprintf("no answer for %v", waited), Err: over}
	}
	if end, ok := c.c.Err().(*engine.ConnError); ok && (end.Why == engine.EndRefused || end.Why == engine.EndTimeout) {
		err := connError(c.network, end, true).(*ConnError)
		if end.Why == engine.EndTimeout {
			err.Reason = fmt.Sprintf("no answer for %v", waited)
		}
		return err
	} // who closes as soon as he has accepted has accepted
	c.dialing, c.cfg, c.writeBy = false, nil, time.Time{}
	c.remote = c.c.Peer()
	c.remote.Net = c.network
	return nil
}
