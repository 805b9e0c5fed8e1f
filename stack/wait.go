// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net"
	"os"
	"slices"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A wait is how a call waits: with whom, until when, and what else ends it. Every call
// of this package that may have to wait for the engine does so by Node.await:
//
//	c := wait{list: &r.readers, closed: &r.closed, by: &r.readBy}
//	err := n.await(&c, func() bool { return r.tookOne() })
//	n.leave(&c)
//
// Between two attempts it always lets go of the node's lock, and an attempt to send that met
// something else than before leaves the line it stood in; see Node.attempt.
type wait struct {
	list   *waitList       // the calls that wait for the same; it is roused through this
	closed *bool           // what it is a call of is closed; nil: that cannot be
	by     *time.Time      // its deadline, which may be moved meanwhile; nil, or zero: none
	ctx    context.Context // nil: none
	heeded bool            // the call is roused by others when ctx is done

	look   time.Time // when to try again though nobody rouses it, as the attempt says; zero: not
	w      *waiter   // nil: it has not had to wait, nor to send
	unheed func() bool
}

// A waiter is a call that waits for something: a message, room, an event. While
// it leads it sleeps in the calls' parker, else on its own channel.
type waiter struct {
	wake    chan struct{} // of one place: a wake-up before the sleep is kept
	timer   *time.Timer
	since   time.Duration // when it began to drive; 0: not yet
	polls   int           // turned while driving
	entered bool          // it is among those who wait
	roused  bool          // since its last attempt began; of a leader. Guarded by the node's lock
	write                 // of a call that sends
	awaited               // of one that waits for a name
}

// newWaiter returns a waiter that is nobody's. They are kept by node: the node's lock
// guards the list.
func (n *localNode) newWaiter() *waiter {
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

// A waitList is the calls that wait for one thing, in order of arrival. The node's
// lock guards it.
type waitList []*waiter

func (l *waitList) add(w *waiter) { *l = append(*l, w) }

func (l *waitList) remove(w *waiter) {
	if i := slices.Index(*l, w); i >= 0 {
		*l = slices.Delete(*l, i, i+1)
	}
}

// await calls try until that reports true, and waits for something to happen in between.
// The node's lock is held, but not while it waits. Errors, of which each is looked for before
// every attempt: net.ErrClosed, what ctx says, os.ErrDeadlineExceeded. The call stays among
// those who wait until leave, so that it can go on waiting, for something else perhaps.
func (n *localNode) await(c *wait, try func() bool) error {
	for {
		switch {
		case c.closed != nil && *c.closed:
			return net.ErrClosed
		case c.ctx != nil && c.ctx.Err() != nil:
			return c.ctx.Err()
		case c.by != nil && past(*c.by):
			return os.ErrDeadlineExceeded
		}
		if c.w != nil {
			c.w.roused = false // what comes from now on makes it look again
			c.look = time.Time{}
		}
		if try() {
			return nil
		}
		n.enter(c)
		n.block(c.w, c.until())
	}
}

// until is when the call looks again at the latest; zero: when it is roused.
func (c *wait) until() time.Time {
	if c.by == nil || c.by.IsZero() {
		return c.look
	}
	if c.look.IsZero() || c.by.Before(c.look) {
		return *c.by
	}
	return c.look
}

// lookBy makes the call look at a time, if not before. An attempt calls it that failed.
func (c *wait) lookBy(at time.Time) {
	if c.look.IsZero() || at.Before(c.look) {
		c.look = at
	}
}

// enter takes the call among those who wait, if it is not yet. Everything from here to
// leave holds the node's lock, but for the sleeps in block.
func (n *localNode) enter(c *wait) {
	w := c.w
	if w == nil {
		w = n.newWaiter()
		c.w = w
	}
	if w.entered {
		return
	}
	w.entered = true
	w.since, w.polls, w.roused = 0, 0, false
	n.sendsInRow = 0
	c.list.add(w)
	if _, wakeSleeper := n.leadership.arrive(w); wakeSleeper {
		n.backgroundParker.rouse()
	}
	if c.ctx != nil && !c.heeded && c.ctx.Done() != nil {
		c.unheed = n.rouseWhen(c.ctx, w)
	}
}

// leave takes the call out again, of everything it stands in, and hands the role on.
func (n *localNode) leave(c *wait) {
	w := c.w
	if w == nil {
		return
	}
	c.w = nil
	if c.unheed != nil {
		c.unheed()
	}
	if w.ticket.Owner != nil {
		n.eng.Quit(n.latest, &w.ticket)
		w.ticket.Owner = nil
		n.callWriters()
		n.unawait(w)
	}
	if w.entered {
		w.entered = false
		c.list.remove(w)
		if n.leadership.leader == w {
			n.spinPolicy.left()
		}
		next, wakeBackground := n.leadership.leave(w)
		if next != nil {
			signal(next.wake)
		}
		if wakeBackground {
			signal(n.backgroundWake)
		}
	}
	n.idleWaiters = append(n.idleWaiters, w)
}

// attempt is an attempt of w's call to send, of which send is the engine's part. When that
// finds no room w stands in line for it until there is, or until another attempt meets
// something else.
func (n *localNode) attempt(w *waiter, now time.Duration, send func() error) error {
	n.latest = now
	w.ticket.Owner = w
	n.eng.SendAs(&w.ticket)
	n.trying = w
	n.did(engine.WorkSends, 1)
	err := send()
	n.trying = nil
	n.eng.Tried(now)
	n.callWriters() // for who left a line has left room
	return err
}

// block waits for something to happen, at most until the deadline (zero: none):
// a poll if w leads, a sleep if not. It always lets go of the lock, but for a leader's first
// poll. It returns often without reason; see await.
func (n *localNode) block(w *waiter, deadline time.Time) {
	if w.ticket.Invited() { // there is room: it tries as soon as others have had the lock
		if n.leadership.leader != w {
			n.yieldLock()
			return
		}
		deadline = longAgo
	}
	if n.leadership.leader == w {
		if w.polls > 0 {
			if n.yieldLock(); w.roused {
				return // what came meanwhile found nobody asleep to ring for
			}
		}
		w.polls++
		n.lead(&n.callParker, w, deadline)
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
func (n *localNode) rouse(w *waiter) {
	if n.leadership.leader != w {
		signal(w.wake)
		return
	}
	w.roused = true
	if !n.polling { // its own poll: it is awake, and looks when that ends
		n.callParker.rouse()
	}
}

func (n *localNode) rouseFirst(l waitList) {
	if len(l) > 0 {
		n.rouse(l[0])
	}
}

func (n *localNode) rouseAll(l waitList) {
	for _, w := range l {
		n.rouse(w)
	}
}

// rouseWhen arranges that w looks when ctx is done. The returned function ends that; it may
// come too late, which is harmless.
func (n *localNode) rouseWhen(ctx context.Context, w *waiter) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		n.mu.Lock()
		n.rouse(w)
		n.unlock()
	})
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
