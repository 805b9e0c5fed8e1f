// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Group is a socket in a group, at the daemon.
type Group struct {
	*Socket
	service frame.Service
}

// Join implements backend.Node.
func (f *Node) Join(ctx context.Context, c backend.GroupOptions, svc frame.Service) (backend.Group, error) {
	h := attach.Header{
		Op: attach.OpJoin, Addr: attach.ServiceSockaddr(svc, c.Scope),
		Arg0: uint32(truth(c.Loopback)) | uint32(truth(c.Events))<<1 | uint32(c.Policy)<<8 | uint32(c.Importance)<<16,
		Arg1: uint32(c.Limit), Wide: uint64(c.ReceiveLimit),
	}
	s := &Socket{
		f: f, network: backend.GroupNetwork, sync: c.SyncErrors || f.cfg.SyncErrors, kept: true,
		all: frame.Range{Type: svc.Type, Upper: ^uint32(0)},
	}
	s.make = func(ctx context.Context, _ string, _ wantedState, l *clientConn) (frame.SocketAddr, error) {
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
	return &Group{s, svc}, nil
}

// Read implements backend.Group.
func (g *Group) Read(b []byte) (k int, m backend.GroupEnvelope, err error) {
	_, err = g.onSession(context.Background(), byRead, func(cur *session) error {
		return cur.line.next(context.Background(), false, func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
	})
	return k, m, err
}

func (g *Group) took(cur *session, r *clientRecord, b []byte) (k int, m backend.GroupEnvelope) {
	var plain backend.Envelope
	k = cur.message(r, b, nil, &plain)
	m = backend.GroupEnvelope{
		Kind: engine.GroupKind(r.Arg0 >> 8 & 0xff), From: plain.From, Private: r.Flags&attach.FlagPrivate != 0,
		Importance: plain.Importance, Truncated: plain.Truncated, Addr: plain.Addr,
	}
	switch m.Kind {
	case engine.MemberLeft:
		m.Evicts = r.Wide == 1
	case engine.MemberEvicted, engine.MemberDropping:
		m.Behind, m.Idle = int(r.Wide>>32), time.Duration(uint32(r.Wide))*time.Millisecond
	}
	if svc, ok := r.Addr2.Service(); ok {
		m.Member = svc
	} else {
		m.Member = frame.Service{Type: plain.Name.Type, Instance: plain.Name.Lower}
	}
	return k, m
}

// TryReadMsg implements backend.Group.
func (g *Group) TryReadMsg(b []byte) (k int, m backend.GroupEnvelope, err error) {
	_, err = g.onSession(context.Background(), noWait, func(cur *session) error {
		return cur.line.try(func(r *clientRecord) bool {
			k, m = g.took(cur, r, b)
			return true
		})
	})
	if err != nil && err != backend.ErrAgain {
		err = g.opError("read", nil, err)
	}
	return k, m, err
}

// Members implements backend.Group.
func (g *Group) Members(ctx context.Context) ([]engine.GroupMember, error) {
	return querySocket[[]engine.GroupMember](ctx, g.Socket, "socket.members")
}

// Counters implements backend.Group.
func (g *Group) Counters(ctx context.Context) (engine.GroupCounters, error) {
	return querySocket[engine.GroupCounters](ctx, g.Socket, "socket.counters")
}

// membersParams are the parameters of "socket.wait-members".
type membersParams struct {
	Members int `json:"members"`
}

// countWait is how long the daemon has to report the members when a call that waited for more
// is given up.
const countWait = time.Second

// WaitMembers implements backend.Group.
func (g *Group) WaitMembers(ctx context.Context, k int) error {
	began := time.Now()
	_, err := g.onSession(ctx, noLimit, func(cur *session) error {
		return cur.line.call(ctx, "socket.wait-members", membersParams{k}, nil)
	})
	var members *socket.MembersError
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
	return backend.OpError("wait", backend.GroupNetwork, g.Addr(), g.service, &socket.MembersError{Joined: joined, Wanted: k, Waited: time.Since(began), Err: why})
}

// Write implements backend.Group.
func (g *Group) Write(ctx context.Context, b []byte, d backend.Dest, addr net.Addr) (int, error) {
	h := g.record(d)
	waited, err := g.send(ctx, &h, b)
	if err != nil {
		return 0, g.notSent(addr, waited, err)
	}
	return len(b), nil
}

// TryWrite implements backend.Group.
func (g *Group) TryWrite(b []byte, d backend.Dest, addr net.Addr) (int, error) {
	h := g.record(d)
	switch err := g.trySend(&h, b); {
	case err == backend.ErrAgain:
		return 0, err
	case err != nil:
		return 0, g.opError("write", addr, err)
	}
	return len(b), nil
}

// record is the header of a message to d, which may be an inverted range.
func (g *Group) record(d backend.Dest) attach.Header {
	h := attach.Header{Op: attach.OpSend}
	switch d.Kind {
	case backend.ToService:
		h.Addr = attach.ServiceSockaddr(d.Service(), 0)
	case backend.ToRange:
		h.Addr = attach.RangeSockaddr(d.All(), 0)
	case backend.ToSocket:
		h.Addr = attach.SocketSockaddr(d.Socket())
	}
	return h
}
