// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"fmt"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// What a call tells may be long: all names of a cluster, all sockets. So that many calls
// at once do not take memory for as many tables, few tables are made at a time, and what
// is made counts as queued bytes until the program has read it.
const (
	mostTables = 4              // that are made at once
	mostAudits = 8              // that are made at once; one waits for other nodes
	mostAnswer = attach.MaxData // bytes that count as nothing but the call
)

// A turnstile lets so many through at once.
type turnstile chan struct{}

// turns are the places of calls that make much of little.
type turns struct{ tables, audits turnstile }

func newTurns() turns {
	return turns{make(turnstile, mostTables), make(turnstile, mostAudits)}
}

// serveVerb makes a management call, and charges what it tells; t.charged is to be given
// back once that is written.
func (x *session) serveVerb(ctx context.Context, name string, v Verb, in []byte) (t told) {
	leave, err := x.srv.turns.enter(ctx, name, v.Class)
	if err != nil {
		return told{err: err}
	}
	defer leave()
	t.data, t.err = v.Serve(ctx, x.who, in)
	if len(t.data) > mostAnswer {
		if err := x.charge(queuedBytes, len(t.data)); err != nil {
			return told{err: err}
		}
		t.charged = len(t.data)
	}
	return t
}

// enter waits for a call's turn; an audit, which may take long, is refused instead.
// Errors: the context's; syscall.EAGAIN.
func (s *turns) enter(ctx context.Context, name string, class stack.ControlClass) (leave func(), err error) {
	switch {
	case name == "audit":
		select {
		case s.audits <- struct{}{}:
			return func() { <-s.audits }, nil
		default:
			return nil, fmt.Errorf("%w: %d audits are under way", syscall.EAGAIN, mostAudits)
		}
	case class == stack.ShowControl, name == "socket.bindings":
		select {
		case s.tables <- struct{}{}:
			return func() { <-s.tables }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() {}, nil
}
