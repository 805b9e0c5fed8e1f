// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"time"

	"github.com/utipc/utipc/attach"
)

// What a call tells may be long: all names of a cluster, all sockets. So that many calls
// at once do not take memory for as many tables, few tables are made at a time, and what
// is made counts as queued bytes until the program has read it.
const (
	mostTables = 4              // that are made at once
	longAudit  = time.Minute    // after which an audit, which waits for other nodes, is given up
	mostAnswer = attach.MaxData // bytes that count as nothing but the call
)

// A turnstile lets so many through at once.
type turnstile chan struct{}

// turns are the places of calls that make much of little.
type turns struct{ tables turnstile }

func newTurns() turns {
	return turns{make(turnstile, mostTables)}
}

// serveVerb makes a management call, and charges what it tells; t.charged is to be given
// back once that is written.
func (x *session) serveVerb(ctx context.Context, name string, v Verb, in []byte) (t told) {
	if name == "audit" {
		if err := x.charge(audits, 1); err != nil {
			return told{err: err}
		}
		defer x.client.release(audits, 1)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longAudit)
		defer cancel()
	}
	leave, err := x.srv.turns.enter(ctx, name, v.Right)
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

// enter waits for a call's turn; an audit needs none, which may take long. Errors: the
// context's.
func (s *turns) enter(ctx context.Context, name string, right Right) (leave func(), err error) {
	if name == "audit" || right != ShowRight && name != "socket.bindings" {
		return func() {}, nil
	}
	select {
	case s.tables <- struct{}{}:
		return func() { <-s.tables }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
