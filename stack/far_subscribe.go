// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/utipc/utipc/attach"
)

// A farSubscription is a subscription at the daemon, with a connection of its own.
type farSubscription struct {
	f    *farNode
	line *farLine
}

// subscribeFar subscribes at the daemon.
func (c SubscriptionConfig) subscribeFar(ctx context.Context, n *Node, r Range) (*Subscription, error) {
	l, _, err := n.far.dial(ctx, false)
	if err != nil {
		return nil, err
	}
	h := attach.Header{Op: attach.OpSubscribe, Addr: attach.RangeSockaddr(r, c.Scope), Arg0: uint32(c.At), Arg1: uint32(c.Limit), Wide: uint64(c.Timeout)}
	if c.Ranges {
		h.Flags |= attach.FlagRanges
	}
	if c.Changes {
		h.Flags |= attach.FlagChanges
	}
	s := &farSubscription{n.far, l}
	if _, err = l.ask(ctx, h, nil); err == nil {
		err = s.enroll()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return &Subscription{n: n, r: r, far: s}, nil
}

func (s *farSubscription) enroll() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if s.f.closed {
		return net.ErrClosed
	}
	s.f.subs[s] = struct{}{}
	return nil
}

// next waits for an event. Errors: os.ErrDeadlineExceeded when its time is over, those of
// the daemon, the context's.
func (s *farSubscription) next(ctx context.Context) (ev Event, err error) {
	if err := ctx.Err(); err != nil {
		return Event{}, err
	}
	return s.take(func(use func(*farRecord) bool) error { return s.line.next(ctx, false, use) })
}

// tryNext is next that does not wait: its error is syscall.EAGAIN then.
func (s *farSubscription) tryNext() (Event, error) { return s.take(s.line.try) }

func (s *farSubscription) take(from func(use func(*farRecord) bool) error) (ev Event, err error) {
	var bad error
	err = from(func(r *farRecord) bool {
		ev, bad = eventOf(r)
		return bad != nil || len(r.data) == 0
	})
	switch {
	case err == io.EOF:
		err = os.ErrDeadlineExceeded
	case err == nil && bad != nil:
		s.line.mu.Lock()
		s.line.end(bad)
		s.line.mu.Unlock()
		err = bad
	}
	return ev, err
}

// eventOf takes an event out of a record. Errors: os.ErrDeadlineExceeded where it is the
// end, *GoneError.
func eventOf(r *farRecord) (ev Event, err error) {
	var room [1]attach.Event
	all, err := attach.ParseEvents(r.data[:min(len(r.data), attach.EventLen)], room[:])
	if err != nil || len(all) != 1 {
		return ev, &GoneError{fmt.Sprintf("an event that is none: %v", syscall.EPROTO)}
	}
	r.data = r.data[attach.EventLen:]
	e := &all[0]
	if e.Kind == attach.EventTimeout {
		return ev, os.ErrDeadlineExceeded
	}
	b := Binding{Range: e.Range, Scope: Scope(e.Scope), Socket: SocketAddr{Port: e.Port, Node: e.Node}, Key: e.Key}
	return Event{Withdrawn: e.Kind == attach.EventWithdrawn, Binding: b}, nil
}

func (s *farSubscription) close() {
	s.f.mu.Lock()
	delete(s.f.subs, s)
	s.f.mu.Unlock()
	s.line.close()
}
