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
	state atomic.Uint32 // a seatState
	rung  atomic.Bool   // somebody roused it since it was last taken
	bell  atomic.Pointer[bell]

	// The lap lock guards the rest.
	until  time.Duration // when the sleep or spin in it ends by itself, else 0
	inside bool          // somebody sleeps in it
	on     []*attachment // that can end the sleep
	fitted int           // to the node's bearers of that generation
	next   bell          // instead of the present one, from the next sleep on; nil: none
}

// A seatState says what whoever has the seat does.
const (
	seatEmpty  uint32 = iota // nothing that could be missed
	seatAwake                // looks at the devices, or is about to
	seatAsleep               // sleeps in the kernel, or is about to
)

// hang gives the seat its bell.
func (s *seat) hang(b bell) { s.bell.Store(&b) }

// needDescriptors makes the next sleep one in which descriptors are polled. Errors: none
// is left to be woken by.
func (s *seat) needDescriptors(goPoller bool) error {
	_, waiting := (*s.bell.Load()).(*chanBell)
	if !waiting || s.next != nil {
		return nil
	}
	make := newPollBell
	if goPoller {
		make = newNetBell
	}
	b, err := make(nil)
	if err != nil {
		return err
	}
	s.next = b
	return nil
}

// ring ends the sleep in the seat, if there is one.
func (s *seat) ring() { (*s.bell.Load()).ring() }

// close ends the sleep in the seat, and the seat.
func (s *seat) close() {
	(*s.bell.Load()).close()
	if s.next != nil {
		s.next.close()
		s.next = nil
	}
}

// fit makes the bearers what ends the next sleep in the seat. The sleeper calls it, with
// the lap lock: nobody else looks at the list.
func (s *seat) fit(generation int, attached []*attachment) {
	if s.next != nil {
		(*s.bell.Load()).close()
		s.hang(s.next)
		s.next = nil
	}
	s.fitted = generation
	s.on = append(s.on[:0:0], attached...)
	fds := make([]int, len(s.on))
	for i, a := range s.on {
		fds[i] = a.dev.FD()
	}
	(*s.bell.Load()).watch(fds)
}

// A bell is how a seat sleeps and is woken.
type bell interface {
	// watch makes the devices with these descriptors, -1 for none, those that can end
	// a sleep, all of them. The sleeper calls it.
	watch(fds []int)
	// listen says whether device i can end a sleep. The sleeper calls it.
	listen(i int, on bool)
	// wait sleeps, at now, until it is rung, a device calls, or the node's time is until;
	// now and then it ends before for nothing.
	wait(now, until time.Duration)
	// heard reports whether device i called during the last wait.
	heard(i int) bool
	// ring ends a sleep; it does not block. After close it does nothing.
	ring()
	// close ends a sleep and gives the descriptors back, when nobody sleeps.
	close()
}

// rouse makes whoever has the seat look; the bell is rung only for one that
// sleeps, as that costs a system call.
func (s *seat) rouse() {
	if s.state.Load() == seatEmpty {
		return
	}
	s.rung.Store(true)
	if s.state.Load() == seatAsleep {
		s.ring()
	}
}

// take begins a turn in the seat: from now on whoever rouses it is heard.
func (s *seat) take() {
	s.state.Store(seatAwake)
	s.rung.Store(false)
}

// lieDown is called before a sleep, and reports whether to sleep: nobody has
// roused the seat since it was taken.
func (s *seat) lieDown() bool {
	s.state.Store(seatAsleep) // before the look: who comes later rings
	return !s.rung.Load()
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

func (b *chanBell) wait(now, until time.Duration) {
	b.timer.Reset(until - now)
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

func (b *chanBell) watch([]int) {}

func (b *chanBell) listen(int, bool) {}

func (b *chanBell) heard(int) bool { return false }
