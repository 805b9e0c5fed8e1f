// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// The daemon binds exclusively at once, as far as its node knows. The program waits until the other
// nodes know, before and after, and settles the names then: see stack/engine, exclusive.go.

// settleVerb is the call that settles what a socket has bound.
const settleVerb = "socket.settle-names"

// mayBeExclusive reports an option that the daemon does not know. Errors: errors.ErrUnsupported.
func (f *Node) mayBeExclusive(c backend.SocketOptions) error {
	if c.Exclusive && f.welcomed().Features&attach.FeatureExclusive == 0 {
		return fmt.Errorf("%w: the daemon knows no exclusive names (it is of an older release)", errors.ErrUnsupported)
	}
	return nil
}

// bound binds a socket to its names on its own line.
func (l *clientConn) bound(ctx context.Context, want wantedState, bind func() error) error {
	if want.together || len(want.names) == 0 || !slices.ContainsFunc(want.options, func(o attach.Option) bool { return o.Name == attach.OptExclusive && o.Value != 0 }) {
		return bind()
	}
	return exclusively(bind, func(verb string) error { return inner(l.call(ctx, verb, nil, nil)) })
}

// exclusively binds names, and returns when no other node has them.
func exclusively(bind func() error, call func(verb string) error) error {
	published := backend.PublishedCall.Verb
	if err := call(published); err != nil {
		return err
	}
	if err := bind(); err != nil {
		return err
	}
	if err := call(published); err != nil {
		return err
	}
	return call(settleVerb)
}

// bindExclusive is bind of a socket that takes names for itself. Errors: ErrConfig, *NameTakenError,
// and those of bind.
func (s *Socket) bindExclusive(r frame.Range, scope frame.Scope) error {
	if scope == frame.NodeScope {
		return backend.ErrExclusiveScope
	}
	at := attach.RangeSockaddr(r, scope)
	bound := false
	err := exclusively(func() error {
		err := s.change(attach.Header{Op: attach.OpBind, Addr: at}, nil, func(renames uint32) { s.note(attach.OpBind, at, renames) })
		bound = err == nil
		return err
	}, func(verb string) error {
		_, err := querySocket[control.Nothing](context.Background(), s, verb)
		return inner(err)
	})
	if err != nil && bound {
		s.change(attach.Header{Op: attach.OpUnbind, Addr: at}, nil, func(renames uint32) { s.note(attach.OpUnbind, at, renames) })
		s.forget(r, anyTime)
	}
	return err
}

// What the daemon says of a lost name may come late: after it has bound the socket anew. So both count
// the changes of a socket's names that the daemon has made, and with a name that was lost comes the number of
// changes before.

// renamed counts an answer that changed the names. What was lost before that is over.
func (l *clientConn) renamed(h *attach.Header) {
	switch h.Op {
	case attach.OpBind, attach.OpUnbind, attach.OpListen:
		if h.Errno == 0 {
			l.renames++
			if l.lostAt < l.renames {
				l.nameLost = nil
			}
		}
	case attach.OpAccept: // what a listener has lost is the answer to that
		if h.Errno == syscall.EADDRINUSE {
			l.isNews(h)
		}
	}
}

// isNews reports whether a record tells of a name that the socket has lost since its names were
// changed last, and notes when.
func (l *clientConn) isNews(h *attach.Header) bool {
	at := l.renames
	if h.Arg0 > 0 { // else the daemon is of an older release, and does not say
		at = h.Arg0 - 1
	}
	if at < l.renames {
		return false
	}
	l.lostAt = at
	return true
}

// heedLost has a name that was lost, as an error says, not bound again at the next daemon.
func (s *Socket) heedLost(err error) {
	if err == nil || !s.exclusive {
		return
	}
	var lost *engine.NameTakenError
	if errors.As(err, &lost) {
		l := s.line()
		l.mu.Lock()
		at := l.lostAt
		l.mu.Unlock()
		s.forget(lost.Name, at)
	}
}

// anyTime is after all changes of a socket's names.
const anyTime = 1<<32 - 1

// forget has a range that was bound by a number of changes of the names not bound again at the next daemon.
func (s *Socket) forget(name frame.Range, renames uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = slices.DeleteFunc(s.names, func(n boundName) bool {
		r, ok := n.addr.Range()
		return ok && r == name && n.renames <= renames
	})
	s.changes++
}
