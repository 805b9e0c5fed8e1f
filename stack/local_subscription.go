// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"os"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/poll"
)

// A localSubscription is a subscription of a node in this process.
type localSubscription struct {
	n      *localNode
	r      Range
	from   source // this and the rest is guarded by the node's lock
	wait   poll.List
	closed bool
}

// A source is where the events of a subscription come from.
type source interface {
	next() (ev Event, ok bool, err error) // without an event err says why there will be none, if so
	pending() int                         // more than 0: next may have something to say
	close()
}

// A nearby source is this node's own table.
type nearby struct{ x *engine.Subscription }

// Subscribe implements nodeBackend: at this node's table, or at another's topology service.
func (n *localNode) Subscribe(ctx context.Context, c SubscriptionConfig, r Range, f frame.Filter) (subscriptionBackend, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	if err := n.running(); err != nil {
		return nil, err
	}
	s := &localSubscription{n: n, r: r}
	if c.At != 0 && c.At != n.eng.Address() {
		if err := s.ask(ctx, c, f); err != nil {
			return nil, err
		}
		return s, nil
	}
	now := n.loop.Now()
	x, err := n.eng.Subscribe(now, engine.SubscriptionConfig{Range: r, Filter: f, Timeout: c.Timeout, Limit: c.Limit, Account: c.account.Engine(), Owner: s})
	if err != nil {
		return nil, err
	}
	s.from = nearby{x}
	n.subs[s] = struct{}{}
	if c.Timeout > 0 {
		n.pollOnce(now, false) // who sleeps has one more deadline
	}
	return s, nil
}

// next takes an event that waits; without one err says why there will be none, if so.
func (s *localSubscription) next() (ev Event, ok bool, err error) {
	if s.closed {
		return Event{}, false, net.ErrClosed
	}
	ev, ok, err = s.from.next()
	if x, own := s.from.(nearby); own && x.x.Lists() { // more waits for a turn
		s.n.pollOnce(s.n.loop.Now(), false)
	}
	return ev, ok, err
}

// Next implements subscriptionBackend.
func (s *localSubscription) Next(ctx context.Context) (Event, error) {
	n := s.n
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &s.wait, Ctx: ctx}
	var ev Event
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

// TryNext implements subscriptionBackend.
func (s *localSubscription) TryNext() (Event, error) {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	ev, ok, err := s.next()
	if !ok && err == nil {
		err = errAgain
	}
	return ev, err
}

// Pending implements subscriptionBackend.
func (s *localSubscription) Pending() int {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	if s.closed {
		return 0
	}
	return s.from.pending()
}

// Close implements subscriptionBackend.
func (s *localSubscription) Close() {
	s.n.loop.Lock()
	defer s.n.loop.Unlock()
	s.close()
}

// close is called with the node's lock held.
func (s *localSubscription) close() {
	s.closed = true
	s.from.close()
	s.n.endSubscription(s)
}

// publishNames hands the changes of the binding table to the subscribers, and to the
// calls that wait for a name.
func (n *localNode) publishNames() {
	n.names = n.eng.TakeNameEvents(n.names[:0])
	for _, ev := range n.names {
		if !ev.Withdrawn {
			n.callAwaiting(ev.Binding.Range)
		}
	}
	n.heard = n.eng.TakeSubscriptions(n.heard[:0])
	for i, x := range n.heard {
		s := x.Owner.(*localSubscription)
		if x.Err() == nil {
			n.loop.RouseFirst(s.wait)
		} else {
			n.endSubscription(s)
		}
		n.heard[i] = nil
	}
}

// endSubscription lets everybody who waits know that there will be no more events.
func (n *localNode) endSubscription(s *localSubscription) {
	delete(n.subs, s)
	n.loop.RouseAll(s.wait)
}

func (s nearby) next() (ev Event, ok bool, err error) {
	if ev, ok := s.x.Next(); ok {
		return Event{ev.Withdrawn, ev.Binding}, true, nil
	}
	if err = s.x.Err(); err == engine.ErrSubscriptionOver {
		err = os.ErrDeadlineExceeded
	}
	return Event{}, false, err
}

func (s nearby) pending() int { return s.x.Pending() }

func (s nearby) close() { s.x.Close() }
