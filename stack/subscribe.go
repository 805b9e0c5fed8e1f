// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"iter"
	"net"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/naming"
)

// maxEvents is the number of events that may wait for a subscriber, beside the
// bindings that existed when it subscribed.
const maxEvents = 4096

// An Event tells that a socket was bound to a range, or is bound no longer.
type Event struct {
	Withdrawn bool // else published
	Binding
}

// A Binding is a socket bound to a range: Range, Scope, Socket and Key.
type Binding = naming.Binding

func (ev Event) String() string {
	verb := "published"
	if ev.Withdrawn {
		verb = "withdrawn"
	}
	return fmt.Sprintf("%s %v at %v", verb, ev.Range, ev.Socket)
}

// A Subscription gives the changes of the bindings that overlap a range, first
// those that exist. A subscriber that leaves more than 4096 events unread is cut
// off. It is safe for concurrent use.
type Subscription struct {
	n     *Node
	r     Range
	limit int                  // events that may wait
	queue flowctl.Queue[Event] // this and the rest is guarded by the lap lock
	wait  waitList
	err   error // why there will be no more
}

// Subscribe watches the bindings that overlap r. Reserved types may be watched:
// AllNodes tells of nodes that come and go. Errors, inside *net.OpError:
// ErrRange, net.ErrClosed, the context's.
func (n *Node) Subscribe(ctx context.Context, r Range) (*Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, opError("subscribe", "tipc", nil, r, err)
	}
	if r.Lower > r.Upper {
		return nil, opError("subscribe", "tipc", nil, r, ErrRange)
	}
	n.mu.Lock()
	defer n.unlock()
	if n.closing {
		return nil, opError("subscribe", "tipc", nil, r, net.ErrClosed)
	}
	n.publishNames()
	s := &Subscription{n: n, r: r}
	for b := range n.eng.Overlapping(r) {
		s.queue.Push(Event{Binding: b})
	}
	s.limit = s.queue.Len() + maxEvents
	n.subs[s] = struct{}{}
	return s, nil
}

func (s *Subscription) push(ev Event) {
	if s.queue.Len() >= s.limit {
		s.n.endSubscription(s, ErrSlow)
		return
	}
	s.queue.Push(ev)
	s.n.rouseFirst(s.wait)
}

func (n *Node) endSubscription(s *Subscription, err error) {
	if s.err == nil {
		s.err = err
	}
	delete(n.subs, s)
	n.rouseAll(s.wait)
}

// publishNames hands the changes of the binding table to the subscribers, and to the
// calls that wait for a name.
func (n *Node) publishNames() {
	n.names = n.eng.TakeNameEvents(n.names[:0])
	for _, ev := range n.names {
		if !ev.Withdrawn {
			n.callAwaiting(ev.Binding.Range)
		}
		for s := range n.subs {
			if s.r.Overlaps(ev.Binding.Range) {
				s.push(Event{ev.Withdrawn, ev.Binding})
			}
		}
	}
}

// Next waits for the next event. A subscriber that was cut off gets the events
// that were kept, then ErrSlow. Errors, inside *net.OpError: net.ErrClosed, ErrSlow,
// the context's.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	n := s.n
	n.mu.Lock()
	defer n.unlock()
	var w *waiter
	defer func() {
		if w != nil {
			n.end(&s.wait, w)
		}
		if s.queue.Len() > 0 {
			n.rouseFirst(s.wait)
		}
	}()
	for {
		err := ctx.Err()
		if err == nil && (s.err == nil || s.err == ErrSlow) && s.queue.Len() > 0 {
			return s.queue.Pop(), nil
		}
		if err == nil {
			err = s.err
		}
		if err != nil {
			return Event{}, opError("subscribe", "tipc", nil, s.r, err)
		}
		if w == nil {
			w = n.begin(&s.wait)
			defer n.rouseWhen(ctx, &s.wait)()
		}
		n.block(w, time.Time{})
	}
}

// Events yields events until ctx is done or the subscription has ended; Next then
// tells why.
func (s *Subscription) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			ev, err := s.Next(ctx)
			if err != nil || !yield(ev) {
				return
			}
		}
	}
}

// Close ends the subscription and drops what waits. Closing twice is harmless.
func (s *Subscription) Close() error {
	s.n.mu.Lock()
	defer s.n.unlock()
	s.n.endSubscription(s, net.ErrClosed)
	return nil
}

// WaitFor waits until somebody is bound to the service. Errors as for Subscribe.
func (n *Node) WaitFor(ctx context.Context, a Service) error {
	s, err := n.Subscribe(ctx, a.Range())
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		ev, err := s.Next(ctx)
		if err != nil {
			return err
		}
		if !ev.Withdrawn && (a.Node == 0 || ev.Socket.Node == a.Node) {
			return nil
		}
	}
}
