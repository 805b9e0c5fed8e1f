// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
)

// A waitLock is a lock, and the calls that wait for something that it guards.
type waitLock struct {
	mu    sync.Mutex
	waits []*waiter // in order of arrival
	idle  []*waiter
}

// A wait is how a call waits: until when, and what else ends it. Every call of this package that
// may have to wait does so by await:
//
//	c := wait{ctx: ctx, by: &l.readBy, over: &l.over}
//	err := l.await(&c, func() bool { return l.tookOne() }, nil)
//	l.leave(&c)
//
// Between two attempts it always releases the lock.
type wait struct {
	ctx      context.Context // nil: none
	by       *time.Time      // its deadline, which the lock guards and which may be moved; nil, or zero: none
	over     *error          // why what it waits at is over, which the lock guards; nil: that does not end the call
	outlives bool            // of the reasons in over net.ErrClosed alone ends the call
	role     *role           // the call waits for it; nil: for none
	messages bool            // a message to read wakes the call
	w        *waiter         // nil: it has not had to wait yet

	unheed func() bool
}

// A waiter is a call among those that wait.
type waiter struct {
	wake     chan struct{} // of one place: a wake-up before the sleep is kept
	timer    *time.Timer
	role     *role // once it waits for that
	messages bool
	request  // what a call of clientConn.converse waits for
}

// A role is what at most one call has at a time: with it the call waits in the connection, for data
// or for room, and not asleep. The waitLock's lock guards it.
type role struct {
	holder      *waiter
	setDeadline func(time.Time) error // in the connection; nil: the call waits asleep
	at          time.Time             // that deadline
	full        func(w *waiter) bool  // w must not have the role now; nil: it always may
	turns       bool                  // calls have it in order of arrival; else whichever comes first
}

// elsewhere is the holder of a role that a call keeps while it does not wait.
var elsewhere waiter

var (
	longAgo = time.Unix(1, 0) // a deadline that ends a call
	never   time.Time         // one that does not; it is not changed
)

// await calls try until that reports true, and waits for something to happen in between: with block,
// which releases the lock, where the call can have its role, else asleep. The lock is held, but not
// while it waits. Errors: net.ErrClosed and os.ErrDeadlineExceeded, which are looked for before every
// attempt; why what it waits at is over, and what ctx says, after it. The call stays among those that
// wait, and keeps its role, until leave.
func (q *waitLock) await(c *wait, try func() bool, block func(w *waiter)) error {
	for {
		switch {
		case c.over != nil && *c.over == net.ErrClosed:
			return net.ErrClosed
		case c.by != nil && backend.Past(*c.by):
			return os.ErrDeadlineExceeded
		case try():
			return nil
		case c.over != nil && *c.over != nil && !c.outlives:
			return *c.over
		case c.ctx != nil && c.ctx.Err() != nil:
			return c.ctx.Err()
		}
		q.enter(c)
		c.w.role = c.role
		var by time.Time
		if c.by != nil {
			by = *c.by
		}
		if block != nil && c.role.take(c.w) {
			c.role.until(by)
			block(c.w)
			continue
		}
		if c.role != nil && c.role.holder == c.w {
			q.release(c.role)
		}
		q.sleep(c.w, by)
	}
}

// enter takes the call among those that wait, if it is not yet.
func (q *waitLock) enter(c *wait) {
	if c.w != nil {
		return
	}
	var w *waiter
	if k := len(q.idle); k > 0 {
		w = q.idle[k-1]
		q.idle = q.idle[:k-1]
		select {
		case <-w.wake: // a wake-up that came too late
		default:
		}
	} else {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	w.messages = c.messages
	q.waits = append(q.waits, w)
	c.w = w
	if c.ctx != nil && c.ctx.Done() != nil {
		c.unheed = context.AfterFunc(c.ctx, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.rouse(w)
		})
	}
}

// leave takes the call out again, and hands its role on.
func (q *waitLock) leave(c *wait) {
	w := c.w
	if w == nil {
		return
	}
	c.w = nil
	if c.unheed != nil {
		c.unheed()
	}
	i := slices.Index(q.waits, w)
	q.waits = slices.Delete(q.waits, i, i+1)
	if r := c.role; r != nil && r.holder == w {
		q.release(r)
	} else if r != nil {
		q.pass(r) // it may have been woken to take it
	}
	*w = waiter{wake: w.wake, timer: w.timer}
	if len(q.idle) < 8 {
		q.idle = append(q.idle, w)
	}
}

// sleep waits until the call is woken, or by is over.
func (q *waitLock) sleep(w *waiter, by time.Time) {
	q.mu.Unlock()
	defer q.mu.Lock()
	if by.IsZero() {
		<-w.wake
		return
	}
	if w.timer == nil {
		w.timer = time.NewTimer(time.Hour)
	}
	w.timer.Reset(time.Until(by))
	select {
	case <-w.wake:
	case <-w.timer.C:
	}
	w.timer.Stop()
}

// signalAll makes all calls look that sleep.
func (q *waitLock) signalAll() {
	for _, w := range q.waits {
		feed.Signal(w.wake)
	}
}

// rouseAll makes all calls look, those too that wait in the connection.
func (q *waitLock) rouseAll() {
	for _, w := range q.waits {
		q.rouse(w)
	}
}

// rouse makes the call of w look. It may come when that waits no more.
func (q *waitLock) rouse(w *waiter) {
	feed.Signal(w.wake)
	if w.role != nil && w.role.holder == w {
		w.role.until(longAgo)
	}
}

// release takes the role from the call that has it, and hands it on.
func (q *waitLock) release(r *role) {
	was := r.holder
	r.holder = nil
	for _, w := range q.waits {
		if w.role == r && w != was {
			if r.turns {
				r.holder = w
			}
			feed.Signal(w.wake)
			return
		}
	}
}

// pass lets the first call look that waits for the role, if nobody has it.
func (q *waitLock) pass(r *role) {
	if r.holder == nil {
		q.release(r)
	}
}

// take gives the role to w, if it can be had.
func (r *role) take(w *waiter) bool {
	if r.holder != nil && r.holder != w || r.full != nil && r.full(w) {
		return false
	}
	r.holder = w
	return true
}

// until sets the deadline of who waits in the connection.
func (r *role) until(by time.Time) {
	if r.setDeadline != nil && r.at != by {
		r.at = by
		r.setDeadline(by)
	}
}
