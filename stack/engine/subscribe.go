// SPDX-License-Identifier: Apache-2.0

package engine

import (
	heaps "container/heap"
	"errors"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// What subscribing can find.
var (
	// ErrTooManySubscriptions means the node has as many as it may have.
	ErrTooManySubscriptions = errors.New("engine: too many subscriptions in this node")
	// ErrSlow means a subscriber that did not read its events in time.
	ErrSlow = errors.New("engine: subscriber too slow, events were lost")
	// ErrSubscriptionOver means that a subscription's time is over.
	ErrSubscriptionOver = errors.New("engine: the subscription's time is over")
)

// DefaultEventLimit is the number of events that may wait for a subscriber, by
// default, beside the bindings that existed when it subscribed.
const DefaultEventLimit = 4096

// A subscriber keeps what its subscription is told. It only notes it down: the engine
// may be in the midst of anything.
type subscriber interface {
	told(ev naming.Event)
	timedOut() // the subscription is over; said once
}

// A watch is one subscription, of whomever.
type watch struct {
	naming.Subscription // whose Owner is the watch
	by                  subscriber
	due                 time.Duration // when it is over, or flowctl.Never
	turn                uint64        // of two that are over at once the older comes first
	place               int           // among those that will be over
}

// watches are a node's subscriptions, and what they were not told yet.
type watches struct {
	naming.Subscriptions
	ending  endings // those that time ends
	turns   uint64
	own     int            // subscriptions of this process
	news    []naming.Event // told, for TakeNameEvents
	matched []*naming.Subscription
	ready   []*Subscription
}

// watch enters a subscription. Its subscriber knows what was there before.
func (e *Engine) watch(w *watch) {
	w.Owner = w
	e.watches.Add(&w.Subscription)
	if w.due != flowctl.Never {
		e.watches.turns++
		w.turn = e.watches.turns
		heaps.Push(&e.watches.ending, w)
	}
}

// unwatch ends a subscription; again does no harm.
func (e *Engine) unwatch(w *watch) {
	if !w.Added() {
		return
	}
	e.watches.Remove(&w.Subscription)
	if w.due != flowctl.Never {
		heaps.Remove(&e.watches.ending, w.place)
	}
}

// spread hands what has changed in the table to those who subscribed, in the table's
// order, for each change in the order of the subscriptions.
func (e *Engine) spread() {
	if e.table == nil {
		return
	}
	s := &e.watches
	from := len(s.news)
	s.news = e.table.TakeEvents(s.news)
	for _, ev := range s.news[from:] {
		s.matched = s.Match(s.matched[:0], ev)
		for _, x := range s.matched {
			if x.Added() { // an earlier one may have cut its subscriber off
				w := x.Owner.(*watch)
				w.by.told(ev)
			}
		}
		clear(s.matched)
	}
}

// subscribersDue is when subscribers want to be served.
func (e *Engine) subscribersDue() time.Duration {
	at := e.topology.due()
	if len(e.watches.ending) > 0 {
		at = min(at, e.watches.ending[0].due)
	}
	return at
}

// serveSubscribers tells what has changed, ends what is over, and sends what clients
// of the topology service are to know.
func (e *Engine) serveSubscribers(now time.Duration) {
	if len(e.topology.clients) > 0 {
		e.spread()
	}
	for s := &e.watches; len(s.ending) > 0 && s.ending[0].due <= now; {
		e.spread() // what was before
		if len(s.ending) > 0 && s.ending[0].due <= now {
			w := s.ending[0]
			e.unwatch(w)
			w.by.timedOut()
		}
	}
	e.topology.serve(now)
}

// endings is a heap of watches, the first to end on top.
type endings []*watch

func (h endings) Len() int { return len(h) }

func (h endings) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].turn < h[j].turn
}

func (h endings) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *endings) Push(x any) {
	w := x.(*watch)
	w.place = len(*h)
	*h = append(*h, w)
}

func (h *endings) Pop() any {
	end := len(*h) - 1
	w := (*h)[end]
	(*h)[end] = nil
	*h = (*h)[:end]
	return w
}

// A SubscriptionConfig describes a subscription of this process.
type SubscriptionConfig struct {
	Range   frame.Range
	Filter  frame.Filter  // 0: every binding
	Timeout time.Duration // after which it is over; 0: never
	Limit   int           // events that may wait; default DefaultEventLimit
	Owner   any           // the owner's own word for it
}

// A Subscription keeps events until they are read. It is the engine's and used like
// one.
type Subscription struct {
	Owner   any
	e       *Engine
	watch   watch
	queue   flowctl.Queue[naming.Event]
	limit   int
	err     error
	readied bool
}

// Subscribe watches the bindings that overlap a range; those that exist are the first
// events. Errors: ErrRange, ErrTooManySubscriptions, ErrConfig.
func (e *Engine) Subscribe(now time.Duration, c SubscriptionConfig) (*Subscription, error) {
	if c.Filter == 0 {
		c.Filter = frame.FilterPorts
	}
	if c.Limit == 0 {
		c.Limit = DefaultEventLimit
	}
	s := &Subscription{Owner: c.Owner, e: e}
	s.watch = watch{Subscription: naming.Subscription{Range: c.Range, Filter: c.Filter}, by: s, due: flowctl.Never}
	switch {
	case c.Range.Lower > c.Range.Upper:
		return nil, ErrRange
	case !s.watch.Legal() || c.Limit < 0 || c.Timeout < 0:
		return nil, ErrConfig
	case e.watches.own >= naming.MaxSubscriptions:
		return nil, ErrTooManySubscriptions
	}
	if c.Timeout > 0 && c.Timeout < flowctl.Never-now {
		s.watch.due = now + c.Timeout
	}
	e.spread() // what was before is no news to it
	if e.table != nil {
		s.watch.Existing(e.table, func(b naming.Binding) { s.queue.Push(naming.Event{Binding: b}) })
	}
	s.limit = s.queue.Len() + c.Limit
	e.watch(&s.watch)
	e.watches.own++
	return s, nil
}

func (s *Subscription) told(ev naming.Event) {
	if s.queue.Len() >= s.limit {
		s.e.count.SubscribersCut++
		s.end(ErrSlow)
		return
	}
	s.queue.Push(ev)
	s.rouse()
}

func (s *Subscription) timedOut() { s.end(ErrSubscriptionOver) }

func (s *Subscription) end(err error) {
	if s.err == nil {
		s.err = err
		s.e.watches.own--
		s.e.unwatch(&s.watch)
		s.rouse()
	}
}

func (s *Subscription) rouse() {
	if !s.readied {
		s.readied = true
		s.e.watches.ready = append(s.e.watches.ready, s)
	}
}

// Next takes the first event that waits; ok is false when none does.
func (s *Subscription) Next() (ev naming.Event, ok bool) {
	if s.queue.Len() == 0 {
		return naming.Event{}, false
	}
	return s.queue.Pop(), true
}

// Pending is the number of events that wait.
func (s *Subscription) Pending() int { return s.queue.Len() }

// Err says why there will be no more events than those that wait: ErrSlow,
// ErrSubscriptionOver, ErrClosed, or nil if there may be.
func (s *Subscription) Err() error { return s.err }

// Close ends the subscription and drops what waits. Closing twice is harmless.
func (s *Subscription) Close() {
	s.end(ErrClosed)
	s.err = ErrClosed
	s.queue = flowctl.Queue[naming.Event]{}
}

// TakeSubscriptions appends the subscriptions that have events, or have ended, since
// the last call to dst, each once.
func (e *Engine) TakeSubscriptions(dst []*Subscription) []*Subscription {
	e.spread()
	for _, s := range e.watches.ready {
		s.readied = false
	}
	dst = append(dst, e.watches.ready...)
	clear(e.watches.ready)
	e.watches.ready = e.watches.ready[:0]
	return dst
}
