// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
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
		names, of := n.Names(), namer(n)
		return c.show(func(w io.Writer) { tipcshow.NameTable(w, names, of) }, func() any { return tipcshow.NameTableJSON(names, of) })
	}},
}}

func namer(n *stack.Node) tipcshow.Namer { return tipcshow.Names(n.Addr(), n.Identity(), n.Peers()) }

var socketVerb = verb{name: "socket", short: "show sockets", subs: []*verb{
	{name: "list", short: "all sockets of the node, with bindings and peers", run: func(c *call) error {
		n, err := c.open()
		if err != nil {
			return err
		}
		all := n.Sockets()
		return c.show(func(w io.Writer) { tipcshow.Sockets(w, all) }, func() any { return tipcshow.SocketsJSON(all) })
	}},
}}
