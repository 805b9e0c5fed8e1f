// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
)

// joinFar makes a socket in a group at the daemon.
func (c GroupConfig) joinFar(ctx context.Context, n *Node, svc Service) (*Group, error) {
	h := attach.Header{Op: attach.OpJoin, Addr: attach.ServiceSockaddr(svc, c.Scope),
		Arg0: uint32(truth(c.Loopback)) | uint32(truth(c.Events))<<1 | uint32(c.Policy)<<8 | uint32(c.Importance)<<16,
		Arg1: uint32(c.Limit), Wide: uint64(c.ReceiveLimit)}
	s := &remoteSocket{f: n.far, network: groupNetwork, sync: c.SyncErrors || n.far.cfg.SyncErrors, kept: true,
		all: Range{Type: svc.Type, Upper: ^uint32(0)}}
	s.make = func(ctx context.Context, _ string, _ wantedState, l *clientConn) (SocketAddr, error) {
		if c.Events && s.kept {
			l.seen = reportedMembers{}
		}
		a, err := l.ask(ctx, h, nil)
		local, _ := a.Addr.Socket()
		return local, err
	}
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	return &Group{writeHalf: writeHalf{n: n, network: groupNetwork, far: s}, service: svc}, nil
}

// readFar is read for an attached socket.
func (g *Group) readFar(b []byte) (k int, m GroupMessage, err error) {
	for again := true; again; {
		cur := g.far.session.Load()
		err = cur.line.next(context.Background(), false, func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
		again, err = g.far.follow(context.Background(), cur, readEnd, err)
	}
	return k, m, err
}

func (g *Group) took(cur *session, r *clientRecord, b []byte) (k int, m GroupMessage) {
	var plain Message
	k = cur.message(g.network, r, b, nil, &plain)
	m = GroupMessage{Kind: GroupKind(r.Arg0 >> 8 & 0xff), From: plain.From, Private: r.Flags&attach.FlagPrivate != 0,
		Importance: plain.Importance, Truncated: plain.Truncated, addr: plain.addr}
	if svc, ok := r.Addr2.Service(); ok {
		m.Member = svc
	} else {
		m.Member = Service{Type: plain.Name.Type, Instance: plain.Name.Lower}
	}
	return k, m
}

func (g *Group) tryReadFar(b []byte) (k int, m GroupMessage, err error) {
	for again := true; again; {
		cur := g.far.session.Load()
		err = cur.line.try(func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
		again, err = g.far.tryFollow(cur, err)
	}
	if err != nil && err != errAgain {
		err = g.far.opError("read", nil, err)
	}
	return k, m, err
}

// waitFar is WaitMembers for an attached socket.
func (g *Group) waitFar(ctx context.Context, k int) error {
	began := time.Now()
	var err error
	for again := true; again; {
		cur := g.far.session.Load()
		err = cur.line.call(ctx, "socket.wait-members", membersWords{k}, nil)
		again, err = g.far.follow(ctx, cur, noEnd, err)
	}
	var members *MembersError
	if err == nil || errors.As(err, &members) && ctx.Err() == nil {
		return err
	}
	why := ctx.Err()
	if why == nil {
		why = inner(err)
	}
	joined := 0
	for _, m := range g.Members() {
		if m.Joined {
			joined++
		}
	}
	return opError("wait", groupNetwork, g.Addr(), g.service, &MembersError{joined, k, time.Since(began), why})
}

// writeFar is write for an attached socket.
func (g *Group) writeFar(ctx context.Context, d dest, b []byte, addr net.Addr) (int, error) {
	h := g.record(d)
	waited, err := g.far.send(ctx, &h, b)
	if err != nil {
		return 0, g.far.sendError(&h, addr, waited, err)
	}
	return len(b), nil
}

func (g *Group) tryWriteFar(d dest, b []byte, addr net.Addr) (int, error) {
	h := g.record(d)
	switch err := g.far.trySend(&h, b); {
	case err == errAgain:
		return 0, err
	case err != nil:
		return 0, g.far.opError("write", addr, err)
	}
	return len(b), nil
}

// record is the header of a message to d, which may be an inverted range.
func (g *Group) record(d dest) attach.Header {
	h := attach.Header{Op: attach.OpSend}
	switch d.kind {
	case toService:
		h.Addr = attach.ServiceSockaddr(d.service(), 0)
	case toRange:
		h.Addr = attach.RangeSockaddr(d.all(), 0)
	case toSocket:
		h.Addr = attach.SocketSockaddr(d.socket())
	}
	return h
}
