// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"slices"
	"time"
)

// A waiter is a call that waits for something: a message, room, an event. While
// it drives it sleeps in the calls' seat, else on its own channel.
type waiter struct {
	wake    chan struct{} // of one place: a wake-up before the sleep is kept
	timer   *time.Timer
	since   time.Duration // when it began to drive; 0: not yet
	laps    int           // turned while driving
	roused  bool          // since it last looked; of a driver. Guarded by the lap lock
	write                 // of a call that sends
	awaited               // of one that waits for a name
}

// newWaiter returns a waiter that is nobody's. They are kept by node: the lap lock
// guards the list.
func (n *Node) newWaiter() *waiter {
	if k := len(n.idleWaiters); k > 0 {
		w := n.idleWaiters[k-1]
		n.idleWaiters = n.idleWaiters[:k-1]
		select {
		case <-w.wake: // a wake-up that came too late
		default:
		}
		return w
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &waiter{wake: make(chan struct{}, 1), timer: t}
}

// A waitList is the calls that wait for one thing, in order of arrival. The lap
// lock guards it.
type waitList []*waiter

func (l *waitList) add(w *waiter) { *l = append(*l, w) }

func (l *waitList) remove(w *waiter) {
	if i := slices.Index(*l, w); i >= 0 {
		*l = slices.Delete(*l, i, i+1)
	}
}

// begin enters the calling call among those who wait on l. Everything from here
// to end holds the lap lock, but for the sleeps in block.
func (n *Node) begin(l *waitList) *waiter {
	w := n.newWaiter()
	n.enter(l, w)
	return w
}

func (n *Node) enter(l *waitList, w *waiter) {
	w.since, w.laps = 0, 0
	n.run = 0
	l.add(w)
	if _, ringPump := n.hand.arrive(w); ringPump {
		n.pumpSeat.rouse()
	}
}

// end takes the call out again and hands the role on.
func (n *Node) end(l *waitList, w *waiter) {
	l.remove(w)
	if n.hand.driver == w {
		n.patience.left()
	}
	next, wakePump := n.hand.leave(w)
	if next != nil {
		signal(next.wake)
	}
	if wakePump {
		signal(n.pumpWake)
	}
	n.idleWaiters = append(n.idleWaiters, w)
}

// block waits for something to happen, at most until the deadline (zero: none):
// a lap if w drives, a sleep if not. It returns often without reason; the caller
// looks whether what it waits for is there, and blocks again if not.
func (n *Node) block(w *waiter, deadline time.Time) {
	if n.hand.driver == w {
		w.roused = false
		if w.laps > 0 {
			if n.breathe(); w.roused {
				return // what came meanwhile found nobody asleep to ring for
			}
		}
		w.laps++
		n.drive(&n.callSeat, w, deadline)
		return
	}
	n.unlock()
	if deadline.IsZero() {
		<-w.wake
	} else {
		w.timer.Reset(time.Until(deadline))
		select {
		case <-w.wake:
		case <-w.timer.C:
		}
		w.timer.Stop()
	}
	n.mu.Lock()
}

// rouse makes a waiting call look.
func (n *Node) rouse(w *waiter) {
	if n.hand.driver != w {
		signal(w.wake)
		return
	}
	w.roused = true
	if !n.turning { // its own lap: it is awake, and looks when that ends
		n.callSeat.rouse()
	}
}

func (n *Node) rouseFirst(l waitList) {
	if len(l) > 0 {
		n.rouse(l[0])
	}
}

func (n *Node) rouseAll(l waitList) {
	for _, w := range l {
		n.rouse(w)
	}
}

// rouseWhen arranges that those who wait on l look when ctx is done. The returned
// function ends that.
func (n *Node) rouseWhen(ctx context.Context, l *waitList) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() {
		n.mu.Lock()
		n.rouseAll(*l)
		n.unlock()
	})
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
