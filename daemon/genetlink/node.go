// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
)

func dumpNodes(r *request) error {
	peers, err := r.node.Admin().Peers(r.ctx)
	if err != nil {
		return err
	}
	for _, p := range tipcshow.ByAddress(peers) {
		r.item(nodeGet, ofNode, func(a *attributes) {
			a.number(nodeAddr, uint32(p.Node))
			a.flag(nodeUp, p.Up)
		})
	}
	return nil
}

// dumpNet tells what the node and its cluster are called.
func dumpNet(r *request) error {
	id, err := r.node.Admin().NetID(r.ctx)
	if err != nil {
		return err
	}
	own := r.node.Identity()
	r.item(netGet, ofNet, func(a *attributes) {
		a.number(netID, id)
		a.bytes(netIdentity, own[:8])
		a.bytes(netIdentity1, own[8:])
	})
	return nil
}

// identity reads an identity, which stands in two attributes.
func identity(attrs []byte) (id stack.Identity, ok bool) {
	first, last := netlink.Attribute(attrs, netIdentity), netlink.Attribute(attrs, netIdentity1)
	if len(first) < 8 || len(last) < 8 {
		return id, false
	}
	copy(id[:8], first)
	copy(id[8:], last)
	return id, true
}

func setNet(r *request) error {
	attrs := netlink.Attribute(r.attrs, ofNet)
	n := r.node.Admin()
	if v, ok := number(attrs, netID); ok {
		if err := n.SetNetID(r.ctx, v); err != nil {
			return err
		}
	}
	if v, ok := number(attrs, netAddr); ok {
		if err := n.SetAddress(r.ctx, stack.NodeAddr(v)); err != nil {
			return err
		}
	}
	if has(attrs, netIdentity) {
		id, ok := identity(attrs)
		if !ok {
			return syscall.EINVAL
		}
		return n.SetIdentity(r.ctx, id)
	}
	return nil
}

func removePeer(r *request) error {
	attrs := netlink.Attribute(r.attrs, ofNet)
	if v, ok := number(attrs, netAddr); ok {
		return r.node.Admin().RemovePeer(r.ctx, stack.NodeAddr(v))
	}
	if id, ok := identity(attrs); ok {
		return r.node.Admin().RemovePeerIdentity(r.ctx, id)
	}
	return syscall.EINVAL
}
