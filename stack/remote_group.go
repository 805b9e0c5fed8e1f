// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
)

// A remoteGroup is a socket in a group, at the daemon.
type remoteGroup struct {
	*remoteSocket
	service Service
}

// Join implements nodeBackend.
func (f *remoteNode) Join(ctx context.Context, c GroupConfig, svc Service) (groupBackend, error) {
	h := attach.Header{
		Op: attach.OpJoin, Addr: attach.ServiceSockaddr(svc, c.Scope),
		Arg0: uint32(truth(c.Loopback)) | uint32(truth(c.Events))<<1 | uint32(c.Policy)<<8 | uint32(c.Importance)<<16,
		Arg1: uint32(c.Limit), Wide: uint64(c.ReceiveLimit),
	}
	s := &remoteSocket{
		f: f, network: groupNetwork, sync: c.SyncErrors || f.cfg.SyncErrors, kept: true,
		all: Range{Type: svc.Type, Upper: ^uint32(0)},
	}
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
	return &remoteGroup{s, svc}, nil
}

// Read implements groupBackend.
func (g *remoteGroup) Read(b []byte) (k int, m groupEnvelope, err error) {
	for again := true; again; {
		cur := g.session.Load()
		err = cur.line.next(context.Background(), false, func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
		again, err = g.follow(context.Background(), cur, readEnd, err)
	}
	return k, m, err
}

func (g *remoteGroup) took(cur *session, r *clientRecord, b []byte) (k int, m groupEnvelope) {
	var plain envelope
	k = cur.message(g.network, r, b, nil, &plain)
	m = groupEnvelope{
		Kind: GroupKind(r.Arg0 >> 8 & 0xff), From: plain.From, Private: r.Flags&attach.FlagPrivate != 0,
		Importance: plain.Importance, Truncated: plain.Truncated, addr: plain.addr,
	}
	if svc, ok := r.Addr2.Service(); ok {
		m.Member = svc
	} else {
		m.Member = Service{Type: plain.Name.Type, Instance: plain.Name.Lower}
	}
	return k, m
}

// TryReadMsg implements groupBackend.
func (g *remoteGroup) TryReadMsg(b []byte) (k int, m groupEnvelope, err error) {
	for again := true; again; {
		cur := g.session.Load()
		err = cur.line.try(func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
		again, err = g.tryFollow(cur, err)
	}
	if err != nil && err != errAgain {
		err = g.opError("read", nil, err)
	}
	return k, m, err
}

// Members implements groupBackend.
func (g *remoteGroup) Members(ctx context.Context) ([]GroupMember, error) {
	return querySocket[[]GroupMember](ctx, g.remoteSocket, "socket.members")
}

// Counters implements groupBackend.
func (g *remoteGroup) Counters(ctx context.Context) (GroupCounters, error) {
	return querySocket[GroupCounters](ctx, g.remoteSocket, "socket.counters")
}

// membersParams are the parameters of "socket.wait-members".
type membersParams struct {
	Members int `json:"members"`
}

// countWait is how long the daemon has to report the members when a call that waited for more
// is given up.
const countWait = time.Second

// WaitMembers implements groupBackend.
func (g *remoteGroup) WaitMembers(ctx context.Context, k int) error {
	began := time.Now()
	var err error
	for again := true; again; {
		cur := g.session.Load()
		err = cur.line.call(ctx, "socket.wait-members", membersParams{k}, nil)
		again, err = g.follow(ctx, cur, noEnd, err)
	}
	var members *MembersError
	if err == nil || errors.As(err, &members) && ctx.Err() == nil {
		return err
	}
	why := ctx.Err()
	if why == nil {
		why = inner(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countWait)
	defer cancel()
	joined := 0
	all, _ := g.Members(ctx) // without an answer: 0 have joined, as far as is known
	for _, m := range all {
		if m.Joined {
			joined++
		}
	}
	return opError("wait", groupNetwork, g.Addr(), g.service, &MembersError{joined, k, time.Since(began), why})
}

// Write implements groupBackend.
func (g *remoteGroup) Write(ctx context.Context, b []byte, d dest, addr net.Addr) (int, error) {
	h := g.record(d)
	waited, err := g.send(ctx, &h, b)
	if err != nil {
		return 0, g.notSent(addr, waited, err)
	}
	return len(b), nil
}

// TryWrite implements groupBackend.
func (g *remoteGroup) TryWrite(b []byte, d dest, addr net.Addr) (int, error) {
	h := g.record(d)
	switch err := g.trySend(&h, b); {
	case err == errAgain:
		return 0, err
	case err != nil:
		return 0, g.opError("write", addr, err)
	}
	return len(b), nil
}

// record is the header of a message to d, which may be an inverted range.
func (g *remoteGroup) record(d dest) attach.Header {
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
