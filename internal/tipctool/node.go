// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
)

var nodeVerb = verb{name: "node", short: "show the other nodes, show and set what this one is called", subs: []*verb{
	{name: "list", short: "the other nodes, by address", run: (*call).nodeList},
	{name: "get", short: "show what this node is called", subs: []*verb{
		{name: "address", short: "its address, 8 hexadecimal digits", run: (*call).getAddress},
		{name: "identity", short: "its identity", run: (*call).getIdentity},
		{name: "clusterid", short: "the cluster's number", run: (*call).getNetID},
		{name: "netid", short: "the same", run: (*call).getNetID},
	}},
	{name: "set", short: "change what this node is called, before it has an address, and give it keys", subs: []*verb{
		{name: "address", args: "ADDRESS", short: "Z.C.N or hexadecimal", run: (*call).setAddress},
		{name: "identity", args: "ID", short: "16 characters or 32 hexadecimal digits at most", run: (*call).setIdentity},
		{name: "clusterid", args: "N", short: "1 to 9999", run: (*call).setNetID},
		{name: "netid", args: "N", short: "the same", run: (*call).setNetID},
		{name: "key", args: "{KEY|-|keyfile FILE} [algname NAME] [master|nodeid ID]", short: "a key; or: key rekeying {MINUTES|now}", run: (*call).setKey},
	}},
	{name: "flush", short: "forget keys", subs: []*verb{
		{name: "key", short: "all keys", run: (*call).flushKeys},
	}},
}}

func (c *call) nodeList() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	peers, err := n.Admin().Peers(c.ctx)
	if err != nil {
		return err
	}
	return c.show(func(w io.Writer) { tipcshow.Nodes(w, peers) }, func() any { return tipcshow.NodesJSON(peers) })
}

func (c *call) getAddress() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.value("address", fmt.Sprintf("%08x", uint32(n.Addr())))
}

func (c *call) getIdentity() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.show(func(w io.Writer) { tipcshow.Identity(w, n.Identity(), n.Addr()) },
		func() any { return tipcshow.IdentityJSON(n.Identity(), n.Addr()) })
}

func (c *call) getNetID() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	id, err := n.Admin().NetID(c.ctx)
	if err != nil {
		return err
	}
	return c.value(c.at.name, id)
}

func (c *call) setAddress() error {
	if len(c.rest) == 0 {
		return c.usage()
	}
	a, err := zcn(c.rest[0])
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().SetAddress(c.ctx, a)
}

func (c *call) setIdentity() error {
	if len(c.rest) == 0 {
		return c.usage()
	}
	id, err := identity(c.rest[0])
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().SetIdentity(c.ctx, id)
}

func (c *call) setNetID() error {
	if len(c.rest) == 0 {
		return c.usage()
	}
	v, err := number(c.rest[0], 1<<32-1)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().SetNetID(c.ctx, uint32(v))
}

// identity reads an identity.
func identity(s string) (stack.Identity, error) {
	id, err := stack.ParseIdentity(s)
	if err != nil {
		return id, remark("Invalid node identity")
	}
	return id, nil
}

// zcn reads an address as tipc(8) takes it, "1.1.2", or in hexadecimal.
func zcn(s string) (stack.NodeAddr, error) {
	a, err := stack.ParseNodeAddr(s)
	if err != nil || a == 0 {
		return 0, remark("invalid network address, syntax: Z.C.N")
	}
	return a, nil
}
