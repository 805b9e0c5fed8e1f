// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"context"
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
)

var nametableVerb = verb{name: "nametable", short: "show the table of names", subs: []*verb{
	{name: "show", short: "all bindings in the cluster that are known, a line each", run: func(c *call) error {
		n, err := c.open()
		if err != nil {
			return err
		}
		names, err := n.Admin().Names(c.ctx)
		if err != nil {
			return err
		}
		peers, err := n.Admin().Peers(c.ctx)
		if err != nil {
			return err
		}
		of := tipcshow.Names(n.Addr(), n.Identity(), peers)
		return c.show(func(w io.Writer) { tipcshow.NameTable(w, names, of) }, func() any { return tipcshow.NameTableJSON(names, of) })
	}},
}}

var socketVerb = verb{name: "socket", short: "show sockets", subs: []*verb{
	{name: "list", short: "all sockets of the node, with bindings and peers", run: func(c *call) error {
		n, err := c.open()
		if err != nil {
			return err
		}
		all, err := n.Admin().Sockets(c.ctx)
		if err != nil {
			return err
		}
		names, err := n.Admin().Names(c.ctx)
		if err != nil {
			return err
		}
		tipcshow.Bound(all, names)
		var owners map[uint32]tipcshow.SocketOwner
		if c.Verbose || c.JSON {
			owners = socketOwners(c.ctx, n)
		}
		return c.show(func(w io.Writer) { tipcshow.Sockets(w, all, owners) }, func() any { return tipcshow.SocketsJSON(all, owners) })
	}},
}}

// socketOwners finds the processes that a daemon has sockets for, by port. A node of one's own
// has none, and a daemon may not want to tell.
func socketOwners(ctx context.Context, n *stack.Node) map[uint32]tipcshow.SocketOwner {
	var clients []struct {
		tipcshow.SocketOwner
		SocketPorts []uint32 `json:"socket_ports"`
	}
	if err := n.Admin().Call(ctx, "clients", nil, &clients); err != nil {
		return nil
	}
	owners := map[uint32]tipcshow.SocketOwner{}
	for _, c := range clients {
		for _, port := range c.SocketPorts {
			owners[port] = c.SocketOwner
		}
	}
	return owners
}
