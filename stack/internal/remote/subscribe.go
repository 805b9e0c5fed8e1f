// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Subscription is a subscription at the daemon, with a connection of its own. The next
// daemon knows nothing of it: what was told is taken back when the daemon is lost, and what
// exists at the next one is told again.
type Subscription struct{ *Socket }

// Subscribe implements backend.Node.
func (f *Node) Subscribe(ctx context.Context, c backend.SubscriptionOptions, r frame.Range, _ frame.Filter) (backend.Subscription, error) {
	h := attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(r, c.Scope), Arg0: uint32(c.At), Arg1: uint32(c.Limit)}
	if c.Ranges {
		h.Flags |= attach.FlagRanges
	}
	if c.Changes {
		h.Flags |= attach.FlagChanges
	}
	if c.Complete {
		h.Flags |= attach.FlagComplete
	}
	s := &Subscription{Socket: &Socket{f: f, network: "tipc", aside: true, kept: c.At == 0}}
	if c.Timeout > 0 {
		s.ends = time.Now().Add(c.Timeout)
	}
	s.make = func(ctx context.Context, _ string, _ wantedState, l *clientConn) (frame.SocketAddr, error) {
		if c.Complete && l.offers&attach.FeatureComplete == 0 {
			return frame.SocketAddr{}, fmt.Errorf("%w: an older daemon, which does not tell when the bindings are complete", errors.ErrUnsupported)
		}
		if c.Timeout > 0 {
			h.Wide = uint64(max(1, time.Until(s.ends)))
		}
		if s.kept {
			l.seen = reportedBindings{told: map[attach.Event]attach.Event{}, ranges: c.Ranges}
		}
		_, err := l.ask(ctx, h, nil)
		if err == nil {
			h.Flags &^= attach.FlagChanges // from then on all that exists is a change
		}
		return frame.SocketAddr{}, err
	}
	if err := s.open(ctx, false); err != nil {
		return nil, err
	}
	return s, nil
}

// Next implements backend.Subscription. Errors: os.ErrDeadlineExceeded when its time is over, those of
// the daemon, the context's.
func (s *Subscription) Next(ctx context.Context) (ev socket.Event, err error) {
	if err := ctx.Err(); err != nil {
		return socket.Event{}, err
	}
	_, err = s.onSession(ctx, byEnd, func(cur *session) (err error) {
		ev, err = cur.line.takeEvent(func(use func(*clientRecord) bool) error { return cur.line.next(ctx, false, use) })
		return err
	})
	return ev, err
}

// TryNext implements backend.Subscription.
func (s *Subscription) TryNext() (ev socket.Event, err error) {
	_, err = s.onSession(context.Background(), noWait, func(cur *session) (err error) {
		ev, err = cur.line.takeEvent(cur.line.try)
		return err
	})
	return ev, err
}

func (l *clientConn) takeEvent(from func(use func(*clientRecord) bool) error) (ev socket.Event, err error) {
	var bad error
	err = from(func(r *clientRecord) bool {
		ev, bad = eventOf(r)
		return bad != nil || len(r.data) == 0
	})
	switch {
	case err == io.EOF:
		err = os.ErrDeadlineExceeded
	case err == nil && bad != nil:
		l.mu.Lock()
		l.end(bad)
		l.mu.Unlock()
		err = bad
	}
	return ev, err
}

// eventOf takes an event out of a record. Errors: os.ErrDeadlineExceeded where it is the
// end, syscall.EPROTO.
func eventOf(r *clientRecord) (ev socket.Event, err error) {
	var room [1]attach.Event
	all, err := attach.ParseEvents(r.data[:min(len(r.data), attach.EventLen)], room[:])
	if err != nil || len(all) != 1 {
		return ev, fmt.Errorf("%w: an event that is none", syscall.EPROTO)
	}
	r.data = r.data[attach.EventLen:]
	e := &all[0]
	switch e.Kind {
	case attach.EventTimeout:
		return ev, os.ErrDeadlineExceeded
	case attach.EventComplete:
		return socket.Event{Complete: true}, nil
	}
	b := naming.Binding{Range: e.Range, Scope: frame.Scope(e.Scope), Socket: frame.SocketAddr{Port: e.Port, Node: e.Node}, Key: e.Key}
	return socket.Event{Withdrawn: e.Kind == attach.EventWithdrawn, Binding: b}, nil
}

// Pending implements backend.Subscription. Events wait at the daemon.
func (s *Subscription) Pending() int { return 0 }

// Close implements backend.Subscription.
func (s *Subscription) Close() { s.close("close", true) }
