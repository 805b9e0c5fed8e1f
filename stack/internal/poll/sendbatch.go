// SPDX-License-Identifier: Apache-2.0

package poll

import "time"

// A pace is how messages are sent: one by one, or without pause, which is a run: each send
// begins within a few microseconds after the last has ended, and no call has begun to wait in
// between. What the last one took is no pause: on a slow carrier, where a run helps most, it
// is longer than most programs' pauses. To hand every message
// to the network by itself then costs ten times what it takes to make it. So in a
// run messages wait for each other, share packets where they are small, and share
// the call that sends them. What waits goes out with the next turn of the engine:
// when there is enough of it (engine.HoldFull), when any call looks for
// frames, and else with the background goroutine, which is made ready to run when
// the waiting begins. There is no timer.
type pace struct {
	last      time.Duration // when the last send was over for which the clock was read
	unclocked time.Duration // sends since
	inRow     int           // sends since the last pause
}

// BatchLongest is the bytes of the longest message that waits for others.
const BatchLongest = 4096

const (
	batchPause = 4 * time.Microsecond // longer than that between two sends, on the average of those without a clock, ends a run
	batchAfter = 16                   // sends in a row that are a run
	batchClock = 8                    // sends in a run for which the clock is read once: it costs half of a send
)

// SendTime is the time to give a send; latest is what the engine was told last.
func (l *Loop) SendTime(latest time.Duration) time.Duration {
	if k := l.sends.inRow; k > batchAfter && k%batchClock != 0 {
		return latest
	}
	return l.Now()
}

// InBatch reports whether a message of so many bytes that is sent at now waits for others.
func (l *Loop) InBatch(now time.Duration, size int) bool {
	p := &l.sends
	if p.unclocked++; now > p.last {
		if now-p.last > batchPause*p.unclocked {
			p.inRow = 0
		}
		l.Resume(now)
	}
	p.inRow++
	return p.inRow > batchAfter && size <= BatchLongest
}

// Resume begins the next pause of whoever sends, at now.
func (l *Loop) Resume(now time.Duration) { l.sends.last, l.sends.unclocked = now, 0 }

// batching reports whether a run goes on, for whose messages the background goroutine need not
// look at the devices.
func (l *Loop) batching() bool {
	return l.sends.inRow > batchAfter && l.attending == 0 && l.Now()-l.sends.last < doze
}
