// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"sync/atomic"
	"time"
)

// A seat is where a driver sleeps: the calls have one, the pump has its own, so
// that neither takes a ring that was meant for the other. A ring on a seat nobody
// sleeps in ends the next sleep at once; none is lost.
type seat struct {
	asleep atomic.Bool   // set before the last look at the devices, cleared awake
	until  time.Duration // when its sleep ends by itself, else 0; guarded by the lap lock
	bell
}

// A bell is how a seat sleeps and is woken.
type bell interface {
	// listen says whether device i can end a sleep. The sleeper calls it.
	listen(i int, on bool)
	// wait sleeps until it is rung, a device calls, or d has passed.
	wait(d time.Duration)
	// heard reports whether device i called during the last wait.
	heard(i int) bool
	// ring ends a sleep; it does not block. After close it does nothing.
	ring()
	// close ends a sleep and gives the descriptors back, when nobody sleeps.
	close()
}

// rouse rings if somebody sleeps, or is about to.
func (s *seat) rouse() {
	if s.asleep.Load() {
		s.ring()
	}
}

// A chanBell serves devices that have no descriptor and wake the node themselves.
type chanBell struct {
	c     chan struct{}
	timer *time.Timer
}

func newChanBell() *chanBell {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &chanBell{c: make(chan struct{}, 1), timer: t}
}

func (b *chanBell) wait(d time.Duration) {
	b.timer.Reset(d)
	select {
	case <-b.c:
	case <-b.timer.C:
	}
	b.timer.Stop()
}

func (b *chanBell) ring() {
	select {
	case b.c <- struct{}{}:
	default:
	}
}

func (b *chanBell) close() { b.ring() }

func (b *chanBell) listen(int, bool) {}

func (b *chanBell) heard(int) bool { return false }
