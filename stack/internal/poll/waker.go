// SPDX-License-Identifier: Apache-2.0

package poll

import "time"

// A waker is how a parker sleeps and is woken.
type waker interface {
	// watch makes the devices with these descriptors, -1 for none, those that can end
	// a sleep, all of them. The sleeper calls it.
	watch(fds []int)
	// listen says whether device i can end a sleep. The sleeper calls it.
	listen(i int, on bool)
	// wait sleeps, at now, until it is rung, a device calls, or the Loop's time is until;
	// now and then it ends before for nothing.
	wait(now, until time.Duration)
	// heard reports whether device i called during the last wait.
	heard(i int) bool
	// ring ends a sleep; it does not block. After close it does nothing.
	ring()
	// close ends a sleep and gives the descriptors back, when nobody sleeps.
	close()
}

// A chanWaker serves devices that have no descriptor and call Loop.Wake themselves.
type chanWaker struct {
	c     chan struct{}
	timer *time.Timer
}

func newChanWaker() *chanWaker {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &chanWaker{c: make(chan struct{}, 1), timer: t}
}

func (b *chanWaker) wait(now, until time.Duration) {
	b.timer.Reset(until - now)
	select {
	case <-b.c:
	case <-b.timer.C:
	}
	b.timer.Stop()
}

func (b *chanWaker) ring() {
	select {
	case b.c <- struct{}{}:
	default:
	}
}

func (b *chanWaker) close() { b.ring() }

func (b *chanWaker) watch([]int) {}

func (b *chanWaker) listen(int, bool) {}

func (b *chanWaker) heard(int) bool { return false }
