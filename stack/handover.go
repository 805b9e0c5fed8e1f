// SPDX-License-Identifier: Apache-2.0

package stack

import "slices"

// A handover decides who drives: who alone is responsible for progress, spins on
// the devices and sleeps in the kernel. At every moment that is one waiting call,
// or the node's own goroutine, the pump.
//
//	          arrive: nobody else waits
//	┌──────┐ ───────────────────────────► ┌───────────┐  arrive   ┌────────┐
//	│ pump │                              │  a call   │ ◄──────── │ parked │
//	│      │ ◄─────────────────────────── │  drives   │   leave   │ calls  │
//	└──────┘   leave: nobody else waits   └───────────┘           └────────┘
//
// A busy program waits, leaves and waits again thousands of times a second; to
// wake the pump each time would cost more than the messages. So a pump that has
// seen calls lately dozes: it looks again within a doze, and takes the role only
// when no call came meanwhile. So it does while somebody sends without pause, who looks
// at the devices himself: one asleep in the kernel is woken by a system call, and on a
// process's only processor it takes that from the sender, who has it back when the
// runtime notices, a hundred microseconds later. When the driver sleeps in the kernel
// the pump parks altogether, and whoever leaves wakes it.
//
//	polling ──(a call drives)──► dozing ──(the driver sleeps)──► parked
//	   ▲  └──────(a run)───────► │  ▲                              │
//	   └─(none came for a doze)──┘  └────────(woken by leave)──────┘
//
// A handover has no goroutine and no lock: the lap lock guards it.
type handover struct {
	driver   *waiter   // nil: the pump
	parked   []*waiter // in order of arrival
	pump     pumpState
	arrivals uint64 // calls that ever began to wait
	seen     uint64 // of those, the ones the pump knows of
}

type pumpState uint8

const (
	pumpPolling pumpState = iota // drives, or is about to
	pumpDozing                   // looks again within a doze
	pumpParked                   // looks when it is woken
)

// arrive enters a call that begins to wait. drive: it has the role. ringPump: the
// pump may be in the kernel and has to come out.
func (h *handover) arrive(w *waiter) (drive, ringPump bool) {
	h.arrivals++
	if h.driver != nil {
		h.parked = append(h.parked, w)
		return false, false
	}
	h.driver = w
	return true, h.pump == pumpPolling
}

// leave takes out a call that waits no longer. next has the role now and must be
// woken. wakePump: the pump has it, and must be woken.
func (h *handover) leave(w *waiter) (next *waiter, wakePump bool) {
	if h.driver != w {
		if i := slices.Index(h.parked, w); i >= 0 {
			h.parked = slices.Delete(h.parked, i, i+1)
		}
		return nil, false
	}
	h.driver = nil
	if len(h.parked) > 0 {
		h.driver = h.parked[0]
		h.parked = slices.Delete(h.parked, 0, 1)
		return h.driver, false
	}
	if h.pump == pumpParked {
		h.pump = pumpDozing
		return nil, true
	}
	return nil, false
}

// look tells the pump what to do next; asleep says whether the call that drives
// sleeps in the kernel, run whether some call sends without pause.
func (h *handover) look(asleep, run bool) pumpState {
	switch {
	case h.driver != nil && asleep:
		h.pump = pumpParked
	case h.driver != nil || h.seen != h.arrivals || run:
		h.pump = pumpDozing
	default:
		h.pump = pumpPolling
	}
	h.seen = h.arrivals
	return h.pump
}
