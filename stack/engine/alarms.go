// SPDX-License-Identifier: Apache-2.0

package engine

import (
	pile "container/heap"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// An alarm is one thing that is to be done at a time: a field of whoever waits for it.
// The zero alarm, but for its owner, is not set.
type alarm struct {
	owner ringer
	at    time.Duration
	order uint64 // of setting: alarms of one time ring in that order
	place int    // in the heap, from 1; else one of the two below
}

const (
	notSet = 0
	isDue  = -1 // taken out of the heap, about to ring
)

// A ringer has alarms.
type ringer interface {
	// ring is called once when a is due. It may set and cancel any alarm, a too.
	ring(now time.Duration, a *alarm)
}

// alarms are what sockets and subscriptions of a node wait for. Links have a heap of
// their own, see deadlines: theirs move with every packet. Setting and cancelling cost
// a few steps; without alarms nothing costs anything. The zero value is empty.
type alarms struct {
	heap  alarmHeap
	order uint64
	due   []*alarm // that ring now
}

// first is when the next alarm is due.
func (s *alarms) first() time.Duration {
	if len(s.heap) == 0 {
		return flowctl.Never
	}
	return s.heap[0].at
}

// set makes a ring at a time, and no more at the one it was set to before; Never
// cancels it.
func (s *alarms) set(a *alarm, at time.Duration) {
	if at == flowctl.Never {
		s.cancel(a)
		return
	}
	s.order++
	a.at, a.order = at, s.order
	if a.place > 0 {
		pile.Fix(&s.heap, a.place-1)
	} else {
		pile.Push(&s.heap, a)
	}
}

// cancel makes a not ring. It is harmless for one that is not set.
func (s *alarms) cancel(a *alarm) {
	if a.place > 0 {
		pile.Remove(&s.heap, a.place-1)
	}
	a.place = notSet
}

// isSet reports whether a is to ring.
func (a *alarm) isSet() bool { return a.place != notSet }

// ringDue rings what is due at now, in order of time and setting. An alarm that is set
// meanwhile rings at the next call at the earliest.
func (s *alarms) ringDue(now time.Duration) { s.ringUntil(now, now) }

// mostAlarms is the number of alarms that ring in one turn; the others ring in the next.
const mostAlarms = 2048

// ringUntil rings at now what is due until a time.
func (s *alarms) ringUntil(now, until time.Duration) {
	for s.first() <= until && len(s.due) < mostAlarms {
		a := pile.Pop(&s.heap).(*alarm)
		a.place = isDue
		s.due = append(s.due, a)
	}
	for i, a := range s.due {
		s.due[i] = nil
		if a.place == isDue { // nobody cancelled it or set it anew
			a.place = notSet
			a.owner.ring(now, a)
		}
	}
	s.due = s.due[:0]
}

// An alarmHeap has the next alarm in front; it implements container/heap.Interface.
type alarmHeap []*alarm

func (h alarmHeap) Len() int { return len(h) }

func (h alarmHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i+1, j+1
}

func (h *alarmHeap) Push(x any) {
	a := x.(*alarm)
	*h = append(*h, a)
	a.place = len(*h)
}

func (h *alarmHeap) Pop() any {
	end := len(*h) - 1
	a := (*h)[end]
	(*h)[end] = nil
	*h = (*h)[:end]
	a.place = notSet
	return a
}
