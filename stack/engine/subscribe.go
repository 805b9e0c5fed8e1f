// SPDX-License-Identifier: Apache-2.0

package engine

import (
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

// A SubscriptionConfig describes a subscription of this process.
type SubscriptionConfig struct {
	Range   frame.Range
	Filter  frame.Filter  // 0: every binding
	Timeout time.Duration // after which it is over; 0: never
	Limit   int           // events that may wait; default DefaultEventLimit
	// Complete asks for an event with Complete behind the bindings that existed.
	Complete bool
	Account  *Account // that those count in, or nil
	Owner    any      // the owner's own word for it
}

// A Subscription keeps events until they are read. It is the engine's and used like
// one.
type Subscription struct {
	Owner   any
	e       *Engine
	watch   watch
	queue   flowctl.Queue[naming.Event]
	limit   int
	room    int             // of limit, for events beside the bindings that existed
	listing *naming.Listing // of these, while there are more
	lists   bool            // it goes on by itself: a chore, or stalled
	marks   bool            // Complete is still to be told
	err     error
	readied bool
	account *Account
	charged int // to it
}

// eventCost is what an event that waits counts, in bytes.
const eventCost = 64

// recount charges for the events that wait. It reports false, and charges nothing, when
// there is no room for more of them.
func (s *Subscription) recount() bool {
	k := s.queue.Len()*eventCost - s.charged
	if k == 0 || s.account == nil {
		return true
	}
	if k > 0 && !s.account.Affords(k) {
		return false
	}
	s.account.hold(k, false)
	s.charged += k
	return true
}

// charge is recount that ends the subscription where there is no room.
func (s *Subscription) charge() bool {
	if s.recount() {
		return true
	}
	s.e.count.SubscribersCut++
	s.end(ErrSlow)
	return false
}

// listingPart is the number of existing bindings, and ranges, that are looked at in one go. Up
// to so many a subscriber is told in the order in which they came, of more by lower bound.
const listingPart = 1024

// Subscribe watches the bindings that overlap a range; those that exist are the first
// events. Errors: ErrRange, ErrTooManySubscriptions, ErrConfig, the Full of an account that
// has no room for these.
func (e *Engine) Subscribe(now time.Duration, c SubscriptionConfig) (*Subscription, error) {
	if c.Filter == 0 {
		c.Filter = frame.FilterPorts
	}
	if c.Limit == 0 {
		c.Limit = DefaultEventLimit
	}
	s := &Subscription{Owner: c.Owner, e: e, room: c.Limit, marks: c.Complete}
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
	e.takeChanges() // what was before is no news to it
	switch {
	case e.table == nil || c.Filter&frame.FilterNoStatus != 0:
	case s.watch.Few(e.table, listingPart):
		e.did(WorkBindings, s.watch.Existing(e.table, func(b naming.Binding) { s.queue.Push(naming.Event{Binding: b}) }))
	default:
		s.listing = &naming.Listing{}
		s.listPart(listingPart)
	}
	s.mark()
	if s.account = c.Account; !s.recount() {
		return nil, c.Account.Full
	}
	s.limit = s.queue.Len() + s.room
	e.watch(&s.watch)
	e.watches.own++
	s.listOn()
	return s, nil
}

// listPart has some more of the bindings that existed wait, of up to n that it looks at. A
// subscriber that does not read has no more of them than that: how many there are costs nobody
// memory, nor the others time.
func (s *Subscription) listPart(n int) {
	s.e.hearNow(&s.watch) // Reached is asked for what was before
	if s.err != nil {
		return
	}
	s.e.did(WorkBindings, s.listing.Next(s.e.table, &s.watch.Subscription, n, func(b naming.Binding) { s.queue.Push(naming.Event{Binding: b}) }))
	if s.listing.Done() {
		s.listing = nil
		s.mark()
	}
	s.limit = s.queue.Len() + s.room
}

// mark tells that the bindings which existed were told, if that is wanted and so.
func (s *Subscription) mark() {
	if s.marks && s.listing == nil {
		s.marks = false
		s.queue.Push(naming.Event{Complete: true})
	}
}

// listRoom is how many bindings the next part may look at.
func (s *Subscription) listRoom() int {
	if s.account == nil {
		return listingPart
	}
	return min(listingPart, s.account.room()/eventCost)
}

// Lists reports whether nothing waits to be read, and HandleTimeout will see to it that more
// of the bindings which existed do.
func (s *Subscription) Lists() bool { return s.lists }

// listOn has the listing go on where none of it waits to be read.
func (s *Subscription) listOn() {
	if s.listing != nil && s.queue.Len() == 0 && s.err == nil && !s.lists {
		s.lists = true
		s.e.later(s)
	}
}

// part implements chore: it goes on until something waits. Without room in the account it
// stalls.
func (s *Subscription) part(time.Duration) (more bool) {
	s.lists = s.listing != nil && s.queue.Len() == 0 && s.err == nil
	if !s.lists {
		return false
	}
	room := s.listRoom()
	if room == 0 {
		s.e.watches.stalled = append(s.e.watches.stalled, s)
		return false
	}
	s.listPart(room)
	if s.charge() && (s.queue.Len() > 0 || s.listing == nil) {
		s.rouse()
	}
	s.lists = s.listing != nil && s.queue.Len() == 0 && s.err == nil
	return s.lists
}

// listStalled has the listings go on that waited for room.
func (e *Engine) listStalled(now time.Duration) {
	s := &e.watches
	for _, x := range s.stalled {
		e.later(x)
	}
	clear(s.stalled)
	s.stalled = s.stalled[:0]
	s.retry = now + owedPause
}

func (s *Subscription) told(ev naming.Event) {
	if s.err != nil || s.listing != nil && !s.listing.Reached(ev) {
		return
	}
	if s.queue.Len() >= s.limit {
		s.e.count.SubscribersCut++
		s.end(ErrSlow)
		return
	}
	s.queue.Push(ev)
	if s.charge() {
		s.rouse()
	}
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
	ev = s.queue.Pop()
	s.recount()
	if room := s.listRoom(); s.queue.Len() == 0 && s.listing != nil && s.err == nil && !s.lists && room > 0 && s.e.mayDo(2) {
		s.listPart(room)
		s.charge()
	}
	s.listOn()
	return ev, true
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
	s.recount()
}

// TakeSubscriptions appends the subscriptions that have events, or have ended, since
// the last call to dst, each once.
func (e *Engine) TakeSubscriptions(dst []*Subscription) []*Subscription {
	e.work.done = 0
	e.tellWatches()
	if len(e.watches.ready) == 0 {
		return dst
	}
	for _, s := range e.watches.ready {
		s.readied = false
	}
	dst = append(dst, e.watches.ready...)
	clear(e.watches.ready)
	e.watches.ready = e.watches.ready[:0]
	return dst
}
