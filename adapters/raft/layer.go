// SPDX-License-Identifier: Apache-2.0

// Package tipcraft lets servers of github.com/hashicorp/raft reach each other by TIPC names.
//
//	layer, err := tipcraft.Listen(ctx, node, stack.Service{Type: 18888, Instance: 1})
//	transport := raft.NewNetworkTransport(layer, 3, 10*time.Second, nil)
//	r, err := raft.NewRaft(config, fsm, logs, stable, snapshots, transport)
//
// A server's raft.ServerAddress is the text of its name, "18888:1": it stays the same when the
// server starts again, on the same host or on another.
package tipcraft

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"github.com/utipc/utipc/stack"
)

var _ raft.StreamLayer = (*Layer)(nil)

// A Layer is a raft.StreamLayer over the sockets of a node. Its methods may be called by any
// number of goroutines.
type Layer struct {
	node *stack.Node
	name stack.Service
	*stack.Listener
}

// Listen listens on a name, which no other server may have. Errors are as of stack.Node.Listen.
// The caller closes the node after the transport.
func Listen(ctx context.Context, n *stack.Node, name stack.Service) (*Layer, error) {
	ln, err := n.Listen(ctx, "tipc", name)
	if err != nil {
		return nil, err
	}
	return &Layer{n, name, ln}, nil
}

// Addr returns the name, of which the others make the server's address.
func (l *Layer) Addr() net.Addr { return l.name }

// Address returns the address by which the other servers of a configuration know this one.
func (l *Layer) Address() raft.ServerAddress { return raft.ServerAddress(l.name.String()) }

// Dial connects to the server at an address; timeout bounds how long that takes, zero does not.
// Errors are as of stack.ParseAddr and stack.Node.Dial.
func (l *Layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return l.node.DialContext(ctx, "tipc", string(address))
}
