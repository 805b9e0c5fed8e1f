// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// info answers the requests of ioctl. Arg0 0: the identity of the node Arg1; 1: the name of the
// link to it on a bearer, whose place among the node's bearers is in Wide. Source:
// docs/spec/07-sockets.md §8.2.
func (s *Sockets) info(ctx context.Context, h *attach.Header) (a Answer) {
	a.FD, a.Err = -1, syscall.EADDRNOTAVAIL
	peer := frame.NodeAddr(h.Arg1)
	if h.Arg0 == 0 && peer == s.node.Addr() {
		id := s.node.Identity()
		a.Data, a.Err = id[:], nil
		return a
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
		case h.Arg0 == 0 && l.Up:
			a.Data, a.Err = l.Identity[:], nil
			return a
		case h.Arg0 != 0 && l.Bearer == bearer:
			a.Data, a.Err = []byte(l.Name), nil
			return a
		}
	}
	return a
}
