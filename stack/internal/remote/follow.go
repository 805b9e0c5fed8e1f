// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
)

// A limit is how long a call on a socket waits for the next daemon.
type limit uint8

const (
	noLimit limit = iota
	byRead        // until the read deadline
	byWrite       // until the write deadline
	byEnd         // until the time of a subscription is over
	noWait        // not at all
)

// by is the deadline that the limit means on a line of the socket; nil: none.
func (s *Socket) by(k limit, l *clientConn) *time.Time {
	switch k {
	case byRead:
		return &l.readBy
	case byWrite:
		return &l.out.by
	case byEnd:
		return &s.ends
	}
	return nil
}

// onSession calls do with the socket's session; where that fails because the session's daemon has
// ended, it waits for the next session and calls do with that. waited is how long it has waited.
// Errors: of do; net.ErrClosed, *ReattachError, os.ErrDeadlineExceeded, the context's; with noWait
// syscall.EAGAIN.
func (s *Socket) onSession(ctx context.Context, k limit, do func(cur *session) error) (waited time.Duration, err error) {
	for {
		cur := s.session.Load()
		if err := do(cur); err == nil || !s.kept || !isGone(err) {
			return waited, err
		}
		began := time.Now()
		err := s.follow(ctx, k, cur)
		if waited += time.Since(began); err != nil {
			return waited, err
		}
	}
}

// follow waits for the session after old, whose daemon has ended. Errors as of onSession.
func (s *Socket) follow(ctx context.Context, k limit, old *session) error {
	l := old.line
	l.mu.Lock()
	defer l.mu.Unlock()
	c := wait{ctx: ctx, by: s.by(k, l), over: &l.over, outlives: true}
	defer l.leave(&c)
	var refused error
	var later bool
	err := l.await(&c, func() bool {
		if s.session.Load() != old {
			return true
		}
		if e := s.refused.Load(); e != nil {
			refused = e
		}
		later = k == noWait
		return refused != nil || later
	}, nil)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return refused
	case later:
		return backend.ErrAgain
	}
	return nil
}
