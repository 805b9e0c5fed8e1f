// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"

	"github.com/utipc/utipc/attach"
)

// listenConnFar makes a listening socket at the daemon.
func (c SocketConfig) listenConnFar(ctx context.Context, n *Node, network string, addr net.Addr, r Range) (*Listener, error) {
	s := &remoteSocket{f: n.far, network: network, sync: c.SyncErrors || n.far.cfg.SyncErrors, make: makeListener, kept: true, options: c.optionsOf(n.far)}
	if addr != nil {
		s.names = []boundName{{attach.RangeSockaddr(r, c.Scope)}}
	}
	if err := s.open(ctx, true); err != nil {
		return nil, err
	}
	return &Listener{writeHalf: writeHalf{n: n, network: network, far: s}, cfg: c, stream: network == "tipc"}, nil
}

// makeListener makes a socket that listens, and binds it to its names.
func makeListener(ctx context.Context, network string, want wantedState, l *clientConn) (SocketAddr, error) {
	_, err := makeSocket(ctx, network, want, l)
	var a response
	if err == nil {
		h := attach.Header{Op: attach.OpListen}
		if len(want.names) > 0 {
			h.Addr = want.names[0].addr
		}
		a, err = l.ask(ctx, h, nil)
	}
	for i := 1; i < len(want.names) && err == nil; i++ {
		_, err = l.ask(ctx, attach.Header{Op: attach.OpBind, Addr: want.names[i].addr}, nil)
	}
	local, _ := a.Addr.Socket()
	return local, err
}
