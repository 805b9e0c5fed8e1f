// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A Listener is a listening socket at the daemon.
type Listener struct {
	*Socket
	scope  frame.Scope // of its bindings
	stream bool
}

// Listen implements backend.Node.
func (f *Node) Listen(ctx context.Context, c backend.SocketOptions, network string, stream bool, addr net.Addr, r frame.Range) (backend.Listener, error) {
	s := &Socket{f: f, network: network, sync: c.SyncErrors || f.cfg.SyncErrors, make: makeListener, kept: true, options: f.optionsOf(c), exclusive: c.Exclusive}
	if addr != nil {
		s.names = []boundName{{addr: attach.RangeSockaddr(r, c.Scope)}}
	}
	if err := f.mayBeExclusive(c); err != nil {
		return nil, err
	}
	if err := s.open(ctx, true); err != nil {
		return nil, err
	}
	return &Listener{s, c.Scope, stream}, nil
}

// makeListener makes a socket that listens, and binds it to its names.
func makeListener(ctx context.Context, network string, want wantedState, l *clientConn) (frame.SocketAddr, error) {
	_, err := makeSocket(ctx, network, want, l)
	if err != nil {
		return frame.SocketAddr{}, err
	}
	var a response
	err = l.bound(ctx, want, func() (err error) {
		h := attach.Header{Op: attach.OpListen}
		if len(want.names) > 0 {
			h.Addr = want.names[0].addr
		}
		a, err = l.ask(ctx, h, nil)
		for i := 1; i < len(want.names) && err == nil; i++ {
			_, err = l.ask(ctx, attach.Header{Op: attach.OpBind, Addr: want.names[i].addr}, nil)
		}
		return err
	})
	local, _ := a.Addr.Socket()
	return local, err
}

// AcceptConn implements backend.Listener.
func (l *Listener) AcceptConn(ctx context.Context) (backend.Conn, error) {
	var c *Conn
	if _, err := l.onSession(ctx, byRead, func(cur *session) (err error) {
		c, err = l.acceptOn(ctx, cur.line)
		return err
	}); err != nil {
		l.heedLost(err)
		return nil, l.opError("accept", nil, backend.Passing(err))
	}
	return c, nil
}

// TryAccept implements backend.Listener.
func (l *Listener) TryAccept() (backend.Conn, error) {
	return nil, l.opError("accept", nil, errors.ErrUnsupported)
}

// Bind implements backend.Listener.
func (l *Listener) Bind(addr net.Addr) error { return l.BindScope(addr, l.scope) }

// Unbind implements backend.Listener.
func (l *Listener) Unbind(addr net.Addr) error { return l.UnbindScope(addr, l.scope) }

// BindScope implements backend.Listener.
func (l *Listener) BindScope(addr net.Addr, scope frame.Scope) error {
	return l.bind(attach.OpBind, addr, scope)
}

// UnbindScope implements backend.Listener.
func (l *Listener) UnbindScope(addr net.Addr, scope frame.Scope) error {
	return l.bind(attach.OpUnbind, addr, scope)
}

// acceptOn waits for a connection on one line.
func (l *Listener) acceptOn(ctx context.Context, line *clientConn) (*Conn, error) {
	for {
		a, ok := line.stray()
		if !ok {
			var err error
			if a, err = line.request(ctx, &line.readBy, attach.Header{Op: attach.OpAccept}, nil); err != nil {
				if err == os.ErrDeadlineExceeded { // one may have come with it
					a, ok = line.stray()
				}
				if !ok {
					return nil, err
				}
			}
		}
		if c, err := l.welcome(&a); !isGone(err) { // else only this connection is lost for certain
			return c, err
		}
	}
}

// stray is a connection whose call of Accept has ended before it came.
func (l *clientConn) stray() (a response, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.strays) > 0 && !backend.Past(l.readBy) {
		a, ok = l.strays[0], true
		l.strays = slices.Delete(l.strays, 0, 1)
	}
	return a, ok
}

// welcome makes a connection of what Accept was told.
func (l *Listener) welcome(a *response) (*Conn, error) {
	if a.fd < 0 { // the system had none for this process
		return nil, syscall.EMFILE
	}
	c, err := attach.NewConn(a.fd)
	if err != nil {
		return nil, err
	}
	local := attach.UnpackSocket(a.Wide)
	line := newClientConn(c)
	line.counts = l.line().counts
	if err := line.useRing(context.Background(), l.f.cfg); err != nil {
		line.close()
		return nil, err
	}
	s := &Socket{f: l.f, network: l.network, sync: l.sync}
	s.peer, _ = a.Addr.Socket()
	s.session.Store(&session{line: line, local: local})
	if err := s.enroll(); err != nil {
		return nil, err
	}
	conn := newConn(s, l.stream, &a.Header)
	conn.service, conn.named = a.Addr2.Service()
	return conn, nil
}
