// SPDX-License-Identifier: Apache-2.0

package engine

import (
	heaps "container/heap"
	"slices"
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
	since               uint64        // the change of the table that it was told, or that is no news to it
	turn                uint64        // of two that are over at once the older comes first
	place               int           // among those that will be over
}

// watches are a node's subscriptions, and what they were not told yet.
type watches struct {
	naming.Subscriptions
	ending  endings // those that time ends
	turns   uint64
	own     int            // subscriptions of this process
	news    []naming.Event // for TakeNameEvents
	matched []*naming.Subscription
	ready   []*Subscription
	stalled []*Subscription // whose listing waits for room in an account
	retry   time.Duration   // when these try again

	pending  flowctl.Queue[naming.Event] // changes of the table that not all were told
	matching naming.Matching             // who is told of the first of them
	version  uint64                      // changes so far, the pending ones too
}

const (
	tellPart   = 256  // subscriptions that are looked at in one go
	maxPending = 4096 // changes that may be pending: with more telling goes on
)

// watch enters a subscription. Its subscriber knows what was there before.
func (e *Engine) watch(w *watch) {
	w.Owner = w
	w.since = e.watches.version
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

// takeChanges has the changes of the table be pending.
func (e *Engine) takeChanges() {
	if e.table != nil && e.table.Changed() {
		e.noteChanges()
	}
}

func (e *Engine) noteChanges() {
	s := &e.watches
	from := len(s.news)
	s.news = e.table.TakeEvents(s.news)
	k := len(s.news) - from
	e.did(WorkBindings, k)
	s.version += uint64(k)
	if s.Len() > 0 {
		for _, ev := range s.news[from:] {
			s.pending.Push(ev)
		}
	}
}

// tellWatches hands what has changed in the table to those who subscribed, in the table's
// order, each change to the newest subscription first, as kernels do; where a change is of many,
// by their lower bounds, and so in each part. It is as much as the turn may still do; for the rest see hearNow.
func (e *Engine) tellWatches() {
	e.takeChanges()
	if e.watches.pending.Len() > 0 {
		e.tellPending()
	}
}

func (e *Engine) tellPending() {
	s := &e.watches
	for s.pending.Len() > 0 && (e.mayDo(2) || s.pending.Len() > maxPending) {
		ev, version := *s.pending.At(0), s.version-uint64(s.pending.Len())+1
		var looked int
		s.matched, looked = s.matching.Next(&s.Subscriptions, s.matched[:0], ev, tellPart)
		e.did(WorkSubscribers, looked)
		if s.matching.Done() {
			s.pending.Drop()
			s.matching = naming.Matching{}
		}
		naming.ByAge(s.matched)
		for _, x := range slices.Backward(s.matched) {
			if w := x.Owner.(*watch); w.since < version {
				w.since = version
				w.by.told(ev)
			}
		}
		clear(s.matched)
	}
	s.pending.Forget(64)
}

// hearNow tells one watch what is pending, before the others.
func (e *Engine) hearNow(w *watch) {
	e.takeChanges()
	s := &e.watches
	first := s.version - uint64(s.pending.Len()) + 1
	if w.since >= s.version || s.pending.Len() == 0 {
		return
	}
	e.did(WorkBindings, s.pending.Len())
	for i := range s.pending.Len() {
		if ev := *s.pending.At(i); first+uint64(i) > w.since && w.Wants(ev) {
			w.by.told(ev)
		}
	}
	w.since = s.version
}

// subscribersDue is when subscribers want to be served.
func (e *Engine) subscribersDue() time.Duration {
	at := e.topology.due()
	if e.watches.pending.Len() > 0 {
		return 0
	}
	if len(e.watches.stalled) > 0 {
		at = min(at, e.watches.retry)
	}
	if len(e.watches.ending) > 0 {
		at = min(at, e.watches.ending[0].due)
	}
	return at
}

// serveSubscribers tells what has changed, ends what is over, and sends what clients
// of the topology service are to know.
func (e *Engine) serveSubscribers(now time.Duration) {
	s := &e.watches
	if len(e.topology.clients) > 0 || s.pending.Len() > 0 || s.over(now) {
		e.tellWatches()
	}
	for s.over(now) && e.mayDo(3) {
		w := s.ending[0]
		e.hearNow(w)
		e.did(WorkSubscribers, 1)
		if w.Added() { // else what it heard was too much
			e.unwatch(w)
			w.by.timedOut()
		}
	}
	if len(s.stalled) > 0 && now >= s.retry {
		e.listStalled(now)
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
