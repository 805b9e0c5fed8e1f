// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net"
	"os"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A Subscription is a subscription of a node in this process.
type Subscription struct {
	n      *Node
	r      frame.Range
	from   source // this and the rest is guarded by the node's lock
	wait   poll.List
	closed bool
}

// A source is where the events of a subscription come from.
type source interface {
	next() (ev socket.Event, ok bool, err error) // without an event err says why there will be none, if so
	pending() int                                // more than 0: next may have something to say
	close()
}

// A nearby source is this node's own table.
type nearby struct{ x *engine.Subscription }

// Subscribe implements backend.Node: at this node's table, or at another's topology service.
func (n *Node) Subscribe(ctx context.Context, c backend.SubscriptionOptions, r frame.Range, f frame.Filter) (backend.Subscription, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	s := &Subscription{n: n, r: r}
	if c.At != 0 && c.At != n.eng.Address() {
		if err := s.ask(ctx, c, f); err != nil {
			return nil, err
		}
		return s, nil
	}
	now := n.loop.Now()
	x, err := n.eng.Subscribe(now, engine.SubscriptionConfig{Range: r, Filter: f, Timeout: c.Timeout, Limit: c.Limit, Complete: c.Complete, Account: hosting.AccountOf(ctx).Engine(), Owner: s})
	if err != nil {
		return nil, err
	}
	s.from = nearby{x}
	n.subs[s] = struct{}{}
	n.hook.Opened(s, "subscription")
	if c.Timeout > 0 {
		n.pollOnce(now, false) // who sleeps has one more deadline
	}
	return s, nil
}

// next takes an event that waits; without one err says why there will be none, if so.
func (s *Subscription) next() (ev socket.Event, ok bool, err error) {
	if s.closed {
		return socket.Event{}, false, net.ErrClosed
	}
	ev, ok, err = s.from.next()
	if x, own := s.from.(nearby); own && x.x.Lists() { // more waits for a turn
		s.n.pollOnce(s.n.loop.Now(), false)
	}
	return ev, ok, err
}

// Next implements backend.Subscription.
func (s *Subscription) Next(ctx context.Context) (socket.Event, error) {
	n := s.n
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &s.wait, Ctx: ctx}
	var ev socket.Event
	var ended error
	err := n.loop.Await(&c, func() (ok bool) {
		ev, ok, ended = s.next()
		return ok || ended != nil
	})
	n.loop.Leave(&c)
	if s.from.pending() > 0 {
		n.loop.RouseFirst(s.wait)
	}
	if err == nil {
		err = ended
	}
	return ev, err
}

// TryNext implements backend.Subscription.
func (s *Subscription) TryNext() (socket.Event, error) {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	ev, ok, err := s.next()
	if !ok && err == nil {
		err = backend.ErrAgain
	}
	return ev, err
}

// Pending implements backend.Subscription.
func (s *Subscription) Pending() int {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	if s.closed {
		return 0
	}
	return s.from.pending()
}

// Close implements backend.Subscription.
func (s *Subscription) Close() {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	s.close()
}

// close is called with the node's lock held.
func (s *Subscription) close() {
	s.closed = true
	s.from.close()
	s.n.endSubscription(s)
}

// publishNames hands the changes of the binding table to the subscribers, and to the
// calls that wait for a name.
func (n *Node) publishNames() {
	n.names = n.eng.TakeNameEvents(n.names[:0])
	for _, ev := range n.names {
		if !ev.Withdrawn {
			n.callAwaiting(ev.Binding.Range)
		}
	}
	n.heard = n.eng.TakeSubscriptions(n.heard[:0])
	for i, x := range n.heard {
		s := x.Owner.(*Subscription)
		if x.Err() == nil {
			n.loop.RouseFirst(s.wait)
		} else {
			n.endSubscription(s)
		}
		n.heard[i] = nil
	}
}

// endSubscription lets everybody who waits know that there will be no more events.
func (n *Node) endSubscription(s *Subscription) {
	delete(n.subs, s)
	n.hook.Closed(s)
	n.loop.RouseAll(s.wait)
}

func (s nearby) next() (ev socket.Event, ok bool, err error) {
	if ev, ok := s.x.Next(); ok {
		return socket.Event{Withdrawn: ev.Withdrawn, Complete: ev.Complete, Binding: ev.Binding}, true, nil
	}
	if err = s.x.Err(); err == engine.ErrSubscriptionOver {
		err = os.ErrDeadlineExceeded
	}
	return socket.Event{}, false, err
}

func (s nearby) pending() int { return s.x.Pending() }

func (s nearby) close() { s.x.Close() }
