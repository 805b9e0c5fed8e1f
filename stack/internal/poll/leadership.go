// SPDX-License-Identifier: Apache-2.0

package poll

import "slices"

// A leadership decides who leads: who alone is responsible for progress, spins on
// the devices and sleeps in the kernel. At every moment that is one waiting call,
// or the node's own goroutine, the background goroutine.
//
//	          arrive: nobody else waits
//	┌──────┐ ───────────────────────────► ┌───────────┐  arrive   ┌────────┐
//	│ background goroutine │                              │  a call   │ ◄──────── │ parked │
//	│      │ ◄─────────────────────────── │  leads   │   leave   │ calls  │
//	└──────┘   leave: nobody else waits   └───────────┘           └────────┘
//
// A busy program waits, leaves and waits again thousands of times a second; to
// wake the background goroutine each time would cost more than the messages. So a background goroutine that has
// seen calls lately dozes: it looks again within a doze, and takes the role only
// when no call came meanwhile. So it does while somebody sends without pause, who looks
// at the devices himself: one asleep in the kernel is woken by a system call, and on a
// process's only processor it takes that from the sender, who has it back when the
// runtime notices, a hundred microseconds later. When the leader sleeps in the kernel
// the background goroutine parks altogether, and whoever leaves wakes it.
//
//	polling ──(a call leads)──► dozing ──(the leader sleeps)──► parked
//	   ▲  └──────(a run)───────► │  ▲                              │
//	   └─(none came for a doze)──┘  └────────(woken by leave)──────┘
//
// A leadership has no goroutine and no lock: the Loop's lock guards it.
type leadership struct {
	leader     *Waiter   // nil: the background goroutine
	parked     []*Waiter // in order of arrival
	background backgroundState
	arrivals   uint64 // calls that ever began to wait
	seen       uint64 // of those, the ones the background goroutine knows of
}

type backgroundState uint8

const (
	backgroundPolling backgroundState = iota // leads, or is about to
	backgroundDozing                         // looks again within a doze
	backgroundParked                         // looks when it is woken
)

// arrive enters a call that begins to wait. drive: it has the role. wakeSleeper: the
// background goroutine may be in the kernel and has to come out.
func (h *leadership) arrive(w *Waiter) (lead, wakeSleeper bool) {
	h.arrivals++
	if h.leader != nil {
		h.parked = append(h.parked, w)
		return false, false
	}
	h.leader = w
	return true, h.background == backgroundPolling
}

// leave takes out a call that waits no longer. next has the role now and must be
// woken. wakeBackground: the background goroutine has it, and must be woken.
func (h *leadership) leave(w *Waiter) (next *Waiter, wakeBackground bool) {
	if h.leader != w {
		if i := slices.Index(h.parked, w); i >= 0 {
			h.parked = slices.Delete(h.parked, i, i+1)
		}
		return nil, false
	}
	h.leader = nil
	if len(h.parked) > 0 {
		h.leader = h.parked[0]
		h.parked = slices.Delete(h.parked, 0, 1)
		return h.leader, false
	}
	if h.background == backgroundParked {
		h.background = backgroundDozing
		return nil, true
	}
	return nil, false
}

// look tells the background goroutine what to do next; asleep says whether the call that leads
// sleeps in the kernel, run whether some call sends without pause.
func (h *leadership) look(asleep, sendsInRow bool) backgroundState {
	switch {
	case h.leader != nil && asleep:
		h.background = backgroundParked
	case h.leader != nil || h.seen != h.arrivals || sendsInRow:
		h.background = backgroundDozing
	default:
		h.background = backgroundPolling
	}
	h.seen = h.arrivals
	return h.background
}
