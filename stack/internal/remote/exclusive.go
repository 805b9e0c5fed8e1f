// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if len(want.names) == 0 || !slices.ContainsFunc(want.options, func(o attach.Option) bool { return o.Name == attach.OptExclusive && o.Value != 0 }) {
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
		err := s.change(attach.Header{Op: attach.OpBind, Addr: at}, nil, func() { s.note(attach.OpBind, boundName{at}) })
		bound = err == nil
		return err
	}, func(verb string) error {
		_, err := querySocket[control.Nothing](context.Background(), s, verb)
		return inner(err)
	})
	switch {
	case err == nil:
		s.line().setLost(nil)
	case bound:
		s.change(attach.Header{Op: attach.OpUnbind, Addr: at}, nil, func() { s.note(attach.OpUnbind, boundName{at}) })
		s.forget(r)
	}
	return err
}

// heedLost has a name that was lost, as an error says, not bound again at the next daemon.
func (s *Socket) heedLost(err error) {
	if err == nil || !s.exclusive {
		return
	}
	var lost *engine.NameTakenError
	if errors.As(err, &lost) {
		s.forget(lost.Name)
	}
}

// forget has a range not bound again at the next daemon.
func (s *Socket) forget(name frame.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = slices.DeleteFunc(s.names, func(n boundName) bool {
		r, ok := n.addr.Range()
		return ok && r == name
	})
	s.changes++
}

// setLost sets why calls that read fail.
func (l *clientConn) setLost(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nameLost = err
}
