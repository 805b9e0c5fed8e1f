// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"slices"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
)

// info answers the requests of ioctl. Arg0 0: the identity of the node Arg1; 1: the name of the
// link to it on a bearer, whose place among the node's bearers is in Wide. Source:
// docs/spec/07-sockets.md §8.2.
func (s *Sockets) info(ctx context.Context, h *attach.Header) (a Answer) {
	a.FD, a.Err = -1, syscall.EADDRNOTAVAIL
	peer := frame.NodeAddr(h.Arg1)
	if h.Arg0 == 0 {
		return s.identity(ctx, peer)
	}
	links, err := s.node.Admin().Links(ctx)
	if err != nil {
		return failure(err)
	}
	bearers, err := s.node.Admin().Bearers(ctx)
	if err != nil {
		return failure(err)
	}
	bearer, place := "", int(h.Wide&0xffff)
	if place < len(bearers) {
		bearer = bearers[place].Name
	}
	for i := range links {
		l := &links[i]
		switch {
		case l.Peer != peer:
		case l.Bearer == bearer:
			a.Data, a.Err = []byte(l.Name), nil
			return a
		}
	}
	return a
}

// identity is that of a node, which is this one or known; there need not be contact with it.
func (s *Sockets) identity(ctx context.Context, of frame.NodeAddr) (a Answer) {
	a.FD = -1
	id := s.node.Identity()
	if of != s.node.Addr() {
		peers, err := s.node.Admin().Peers(ctx)
		if err != nil {
			return failure(err)
		}
		i := slices.IndexFunc(peers, func(p admin.Peer) bool { return p.Node == of })
		if i < 0 {
			return failure(syscall.EADDRNOTAVAIL)
		}
		if id = peers[i].Identity; id == (frame.Identity{}) {
			id = frame.AddrIdentity(of)
		}
	}
	a.Data = id[:]
	return a
}
