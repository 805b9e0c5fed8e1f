// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"context"
	"net"
	"os"
	"slices"
	"time"
)

// A Wait is how a call waits: with whom, until when, and what else ends it. Every call
// that may have to wait for the engine does so by Loop.Await:
//
//	c := poll.Wait{List: &r.readers, Closed: &r.closed, By: &r.readBy}
//	err := l.Await(&c, func() bool { return r.tookOne() })
//	l.Leave(&c)
//
// Between two attempts it always lets go of the Loop's lock.
type Wait struct {
	List   *List           // the calls that wait for the same; it is woken through this
	Closed *bool           // what it is a call of is closed; nil: that cannot be
	By     *time.Time      // its deadline, which may be moved meanwhile; nil, or zero: none
	Ctx    context.Context // nil: none
	Heeded bool            // the call is woken by others when Ctx is done
	Waiter *Waiter         // nil: it has not had to wait yet; see NewWaiter

	look   time.Time // when to try again though nobody wakes it, as the attempt says; zero: not
	again  bool      // to try again soon, as the attempt says
	unheed func() bool
}

// A Waiter is a call that waits for something: a message, room, an event. While
// it leads it sleeps in the calls' parker, else on its own channel.
type Waiter struct {
	Owner   any           // what its call keeps with it; the next call that has the Waiter finds it
	wake    chan struct{} // of one place: a wake-up before the sleep is kept
	timer   *time.Timer
	since   time.Duration // when it began to lead; 0: not yet
	polls   int           // turned while leading
	entered bool          // it is among those who wait
	roused  bool          // since its last attempt began; of a leader. Guarded by the Loop's lock
}

// NewWaiter returns a Waiter that is nobody's, for a call that needs one before it waits.
// They are kept by the Loop.
func (l *Loop) NewWaiter() *Waiter {
	if k := len(l.idle); k > 0 {
		w := l.idle[k-1]
		l.idle = l.idle[:k-1]
		select {
		case <-w.wake: // a wake-up that came too late
		default:
		}
		return w
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Waiter{wake: make(chan struct{}, 1), timer: t}
}

// Entered reports whether the call is among those that wait.
func (w *Waiter) Entered() bool { return w.entered }

// A List is the calls that wait for one thing, in order of arrival. The Loop's lock guards
// it.
type List []*Waiter

func (l *List) add(w *Waiter) { *l = append(*l, w) }

func (l *List) remove(w *Waiter) {
	if i := slices.Index(*l, w); i >= 0 {
		*l = slices.Delete(*l, i, i+1)
	}
}

// Await calls try until that reports true, and waits for something to happen in between.
// The lock is held, but not while it waits. Errors, of which each is looked for before
// every attempt: net.ErrClosed, what Ctx says, os.ErrDeadlineExceeded. The call stays among
// those who wait until Leave, so that it can go on waiting, for something else perhaps.
func (l *Loop) Await(c *Wait, try func() bool) error {
	for {
		switch {
		case c.Closed != nil && *c.Closed:
			return net.ErrClosed
		case c.Ctx != nil && c.Ctx.Err() != nil:
			return c.Ctx.Err()
		case c.By != nil && past(*c.By):
			return os.ErrDeadlineExceeded
		}
		if c.Waiter != nil {
			c.Waiter.roused = false // what comes from now on makes it look again
			c.look, c.again = time.Time{}, false
		}
		if try() {
			return nil
		}
		l.Enter(c)
		l.block(c)
	}
}

// past reports whether a deadline is over; a zero one never is.
func past(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// until is when the call looks again at the latest; zero: when it is woken.
func (c *Wait) until() time.Time {
	if c.By == nil || c.By.IsZero() {
		return c.look
	}
	if c.look.IsZero() || c.By.Before(c.look) {
		return *c.By
	}
	return c.look
}

// LookBy makes the call look at a time, if not before. An attempt calls it that failed.
func (c *Wait) LookBy(at time.Time) {
	if c.look.IsZero() || at.Before(c.look) {
		c.look = at
	}
}

// TryAgain makes the call try again as soon as others have had the lock. An attempt calls it
// that failed.
func (c *Wait) TryAgain() { c.again = true }

// Enter takes the call among those who wait, if it is not yet. Everything from here to
// Leave holds the lock, but for the sleeps.
func (l *Loop) Enter(c *Wait) {
	w := c.Waiter
	if w == nil {
		w = l.NewWaiter()
		c.Waiter = w
	}
	if w.entered {
		return
	}
	w.entered = true
	w.since, w.polls, w.roused = 0, 0, false
	l.sends.inRow = 0
	c.List.add(w)
	if _, wakeSleeper := l.leadership.arrive(w); wakeSleeper {
		l.ownParker.rouse()
	}
	if c.Ctx != nil && !c.Heeded && c.Ctx.Done() != nil {
		c.unheed = l.rouseWhen(c.Ctx, w)
	}
}

// Leave takes the call out again, of everything it stands in, and hands the role on.
func (l *Loop) Leave(c *Wait) {
	w := c.Waiter
	if w == nil {
		return
	}
	c.Waiter = nil
	if c.unheed != nil {
		c.unheed()
	}
	if w.entered {
		w.entered = false
		c.List.remove(w)
		if l.leadership.leader == w {
			l.spinPolicy.left()
		}
		next, wakeBackground := l.leadership.leave(w)
		if next != nil {
			signal(next.wake)
		}
		if wakeBackground {
			signal(l.backgroundWake)
		}
	}
	l.idle = append(l.idle, w)
}

// Leads reports whether the call has the role of the leader.
func (l *Loop) Leads(w *Waiter) bool { return l.leadership.leader == w }

var longAgo = time.Unix(1, 0) // a deadline that has passed

// block waits for something to happen, at most until the call's deadline:
// a poll if it leads, a sleep if not. It always lets go of the lock, but for a leader's first
// poll. It returns often without reason; see Await.
func (l *Loop) block(c *Wait) {
	w, deadline := c.Waiter, c.until()
	if c.again {
		if l.leadership.leader != w {
			l.yieldLock()
			return
		}
		deadline = longAgo
	}
	if l.leadership.leader == w {
		if w.polls > 0 {
			if l.yieldLock(); w.roused {
				return // what came meanwhile found nobody asleep to ring for
			}
		}
		w.polls++
		l.lead(&l.callParker, w, deadline)
		return
	}
	l.Unlock()
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
	l.mu.Lock()
}

// Rouse makes a waiting call look.
func (l *Loop) Rouse(w *Waiter) {
	if l.leadership.leader != w {
		signal(w.wake)
		return
	}
	w.roused = true
	if !l.polling { // its own poll: it is awake, and looks when that ends
		l.callParker.rouse()
	}
}

// RouseFirst makes the call look that has waited longest.
func (l *Loop) RouseFirst(calls List) {
	if len(calls) > 0 {
		l.Rouse(calls[0])
	}
}

// RouseAll makes all of the calls look.
func (l *Loop) RouseAll(calls List) {
	for _, w := range calls {
		l.Rouse(w)
	}
}

// rouseWhen arranges that w looks when ctx is done. The returned function ends that; it may
// come too late, which is harmless.
func (l *Loop) rouseWhen(ctx context.Context, w *Waiter) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		l.mu.Lock()
		l.Rouse(w)
		l.Unlock()
	})
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
