// SPDX-License-Identifier: Apache-2.0

package engine

import (
	heaps "container/heap"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/naming"
)

// A subscriber keeps what its subscription is told. It only notes it down: the engine
// may be in the midst of anything. What it is told after its end it ignores.
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

// tellWatches hands what has changed in the table to those who subscribed, in the table's
// order, for each change in the order of the subscriptions.
func (e *Engine) tellWatches() {
	if e.table == nil {
		return
	}
	s := &e.watches
	from := len(s.news)
	s.news = e.table.TakeEvents(s.news)
	for _, ev := range s.news[from:] {
		s.matched = s.Match(s.matched[:0], ev)
		e.did(WorkBindings, 1)
		e.did(WorkSubscribers, len(s.matched))
		for _, x := range s.matched {
			x.Owner.(*watch).by.told(ev)
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
	s := &e.watches
	if len(e.topology.clients) > 0 || s.over(now) {
		e.tellWatches()
	}
	for s.over(now) {
		w := s.ending[0]
		e.unwatch(w)
		w.by.timedOut()
	}
	e.topology.serve(now)
}

// over reports whether there is a watch whose time is over.
func (s *watches) over(now time.Duration) bool { return len(s.ending) > 0 && s.ending[0].due <= now }

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
