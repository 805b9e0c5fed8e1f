// SPDX-License-Identifier: Apache-2.0

package poll

// PollNow polls once for a call that never waits and comes back soon, as that of a program that spins does. For as
// long as such calls come, the background goroutine dozes and leaves the devices to them. A call that leads keeps
// the devices.
func (l *Loop) PollNow() {
	if l.leadership.leader != nil {
		return
	}
	l.leadership.arrivals++
	if l.leadership.background == backgroundPolling {
		l.ownParker.rouse()
	}
	l.machine.Poll(l.Now(), true)
}

// Rest gives the devices to the background goroutine at once: no call of PollNow comes soon. Without it, the goroutine
// dozes for up to a millisecond more.
func (l *Loop) Rest() {
	l.leadership.seen = l.leadership.arrivals
	signal(l.backgroundWake)
}
