// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"sync/atomic"
	"time"
)

// A parker is where a leader sleeps: the calls have one, the background goroutine has its own, so
// that neither takes a ring that was meant for the other. A ring on a parker nobody
// sleeps in ends the next sleep at once; none is lost.
type parker struct {
	state atomic.Uint32 // a parkerState
	rung  atomic.Bool   // somebody roused it since it was last taken
	waker atomic.Pointer[waker]

	// The Loop's lock guards the rest.
	until  time.Duration // when the sleep or spin in it ends by itself, else 0
	inside bool          // somebody sleeps in it
	on     []*Source     // that can end the sleep
	fitted int           // to the Loop's sources of that generation
	next   waker         // instead of the present one, from the next sleep on; nil: none
}

// A parkerState says what whoever has the parker does.
const (
	parkerEmpty    uint32 = iota // nothing that could be missed
	parkerAwake                  // looks at the devices, or is about to
	parkerSleeping               // sleeps in the kernel, or is about to
)

// hang gives the parker its waker.
func (s *parker) hang(b waker) { s.waker.Store(&b) }

// needDescriptors makes the next sleep one in which descriptors are polled. Errors: none
// is left to be woken by.
func (s *parker) needDescriptors(goPoller bool) error {
	_, waiting := (*s.waker.Load()).(*chanWaker)
	if !waiting || s.next != nil {
		return nil
	}
	make := newPollWaker
	if goPoller {
		make = newNetWaker
	}
	b, err := make(nil)
	if err != nil {
		return err
	}
	s.next = b
	return nil
}

// ring ends the sleep in the parker, if there is one.
func (s *parker) ring() { (*s.waker.Load()).ring() }

// close ends the sleep in the parker, and the parker.
func (s *parker) close() {
	(*s.waker.Load()).close()
	if s.next != nil {
		s.next.close()
		s.next = nil
	}
}

// fit makes the sources what ends the next sleep in the parker. The sleeper calls it, with
// the Loop's lock: nobody else looks at the list.
func (s *parker) fit(generation int, sources []*Source) {
	if s.next != nil {
		(*s.waker.Load()).close()
		s.hang(s.next)
		s.next = nil
	}
	s.fitted = generation
	s.on = append(s.on[:0:0], sources...)
	fds := make([]int, len(s.on))
	for i, a := range s.on {
		fds[i] = a.FD()
	}
	(*s.waker.Load()).watch(fds)
}

// rouse makes whoever has the parker look; the waker is rung only for one that
// sleeps, as that costs a system call.
func (s *parker) rouse() {
	if s.state.Load() == parkerEmpty {
		return
	}
	s.rung.Store(true)
	if s.state.Load() == parkerSleeping {
		s.ring()
	}
}

// take begins a turn in the parker: from now on whoever rouses it is heard.
func (s *parker) take() {
	s.state.Store(parkerAwake)
	s.rung.Store(false)
}

// prepareSleep is called before a sleep, and reports whether to sleep: nobody has
// roused the parker since it was taken.
func (s *parker) prepareSleep() bool {
	s.state.Store(parkerSleeping) // before the look: who comes later rings
	return !s.rung.Load()
}

// asleep reports whether whoever has the parker sleeps in the kernel, or is about to. The
// Loop's lock is held.
func (s *parker) asleep() bool { return s.until > 0 && s.state.Load() == parkerSleeping }
