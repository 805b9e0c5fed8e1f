// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"context"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
)

// contactLimit is for how long a connection waits for contact with the other node, which may have been opened just now.
const contactLimit = 10 * time.Second

// Connect begins a connection to a port that is at a socket of another node; how it ends, Poll and Error say. Errors: none that
// are known yet.
func (n *Node) Connect(at stack.SocketAddr, from, to tcpwire.Addr) int32 {
	ctx, stop := context.WithTimeoutCause(context.Background(), tcpwire.Timeout, syscall.ETIMEDOUT)
	s := &Socket{n: n, stop: stop}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.add(s)
	n.wg.Go(func() {
		defer stop()
		c, err := n.dial(ctx, at, tcpwire.AppendOpening(nil, from, to))
		n.mu.Lock()
		defer n.mu.Unlock()
		defer n.wakers.wake()
		switch {
		case err != nil:
			s.ended, s.errno = true, stack.Errno(err)
		case n.of[h] != s: // it was closed meanwhile
			c.Abort()
		default:
			s.begin(c)
		}
	})
	return h
}

// begin makes c the socket's connection. The Node's lock is held.
func (s *Socket) begin(c *stack.Conn) {
	s.c, s.fresh = c, true
	s.n.connections.Add(1)
	s.n.p.Add(c, s)
}

func (n *Node) dial(ctx context.Context, at stack.SocketAddr, opening []byte) (*stack.Conn, error) {
	contact, stop := context.WithTimeout(ctx, contactLimit)
	defer stop()
	if err := n.n.WaitFor(contact, stack.Service{Type: stack.NodeState, Instance: uint32(at.Node)}); err != nil {
		return nil, syscall.EHOSTUNREACH
	}
	c, err := stack.SocketConfig{DialTimeout: tcpwire.Timeout}.DialWith(ctx, n.n, tcpwire.Network, at, opening)
	if err != nil {
		return nil, tcpwire.Refusal(err)
	}
	return c, nil
}

// An Accepted is a connection that a program has accepted, or is to.
type Accepted struct {
	Handle int32 // 0: it has none yet
	From   tcpwire.Addr
	Node   stack.NodeAddr // that it is from

	c *stack.Conn
}

// Listen opens a listener for an address. Its own socket, of this node, is what others connect to. Errors: those of
// stack.Listen.
func (n *Node) Listen(at tcpwire.Addr, backlog int) (h int32, own stack.SocketAddr, err error) {
	l, err := stack.SocketConfig{AcceptAhead: true, Backlog: room(backlog)}.Listen(context.Background(), n.n, tcpwire.Network, nil)
	if err != nil {
		return 0, own, err
	}
	s := &Socket{n: n, l: l, at: at, fresh: true}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.p.Add(l, s)
	own, _ = l.LocalAddr().(stack.SocketAddr)
	return n.add(s), own, nil
}

// room is how many connections may wait at a listener for a backlog of listen(2), of which a negative one is a large one.
func room(backlog int) int { return max(1, int(min(uint32(backlog), tcpwire.MostBacklog))) }

// takeRequests takes the next connection that waits at a listener, if its opening is of its address. The others wait there, up to
// the backlog.
func (s *Socket) takeRequests() {
	for s.fresh && len(s.accepted) == 0 {
		c, err := s.l.TryAccept()
		if err != nil {
			s.fresh = false
			return
		}
		peer, _ := c.RemoteAddr().(stack.SocketAddr)
		from, to, ok := tcpwire.ReadOpening(c)
		if !ok || to != s.at {
			c.Abort()
			continue
		}
		s.accepted = append(s.accepted, Accepted{From: from, Node: peer.Node, c: c})
	}
}

// Accept takes a connection that waits at a listener. The caller asks the daemon of its address whether it may be from
// that node, and closes it if not. Errors: syscall.EAGAIN, EINVAL of what is no listener.
func (n *Node) Accept(h int32) (a Accepted, err error) {
	_, err = n.with(h, func(s *Socket) (int, error) {
		if s.l == nil {
			return 0, syscall.EINVAL
		}
		if s.takeRequests(); len(s.accepted) == 0 {
			return 0, syscall.EAGAIN
		}
		a, s.accepted = s.accepted[0], s.accepted[1:]
		own := &Socket{n: n}
		a.Handle = n.add(own)
		own.begin(a.c)
		return 0, nil
	})
	return a, err
}
