// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// WaitFor waits until a socket is bound to addr, a Service, or to any instance of a Range. Of a
// Service with a Node the socket must be on that node. Errors, inside *net.OpError: those of
// Subscribe; *net.AddrError for another kind of address; when ctx is done, *BlockedError that says
// how long it waited.
func (n *Node) WaitFor(ctx context.Context, addr net.Addr) error { return n.WaitForN(ctx, addr, 1) }

// WaitForN is WaitFor that waits until at least k sockets are bound at the same time. A socket counts
// once, however many names of a Range it has.
func (n *Node) WaitForN(ctx context.Context, addr net.Addr, k int) error {
	var r Range
	var on NodeAddr
	switch a := addr.(type) {
	case Service:
		r, on = a.Range(), a.Node
	case Range:
		r = a
	default:
		text := "<nil>"
		if addr != nil {
			text = addr.String()
		}
		return backend.OpError("wait", "tipc", nil, addr, &net.AddrError{Err: "not a service or a range", Addr: text})
	}
	return n.waitBound(ctx, addr, r, on, k)
}

// WaitNodes waits until this node is in contact with enough others to make k nodes, itself included. The
// names of a node follow contact with it: see WaitFor for these. Errors as of WaitFor.
func (n *Node) WaitNodes(ctx context.Context, k int) error {
	return n.waitBound(ctx, AllNodes, AllNodes, 0, k)
}

// waitBound waits until at least k sockets, on a node if it is not 0, are bound to names in r.
func (n *Node) waitBound(ctx context.Context, addr net.Addr, r Range, on NodeAddr, k int) error {
	began := time.Now()
	s, err := n.Subscribe(ctx, r)
	if err != nil {
		return err
	}
	defer s.Close()
	found := map[SocketAddr]int{} // how many of its names are in r
	for len(found) < k {
		ev, err := s.Next(ctx)
		if err != nil && ctx.Err() != nil {
			blocked := &BlockedError{Name: addr, Blocked: time.Since(began), Cause: ctx.Err()}
			if k > 1 {
				blocked.Bound, blocked.Wanted = len(found), k
			}
			return backend.OpError("wait", "tipc", nil, addr, blocked)
		}
		if err != nil {
			return err
		}
		at := SocketAddr{Node: ev.Socket.Node, Port: ev.Socket.Port}
		switch {
		case on != 0 && at.Node != on:
		case !ev.Withdrawn:
			found[at]++
		case found[at] == 1:
			delete(found, at)
		default:
			found[at]--
		}
	}
	return nil
}
