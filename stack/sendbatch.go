// SPDX-License-Identifier: Apache-2.0

package stack

import "time"

// A sendsInRow is sends without pause: each begins within a few microseconds after the last
// has ended, and no call of the node has begun to wait in between. What the last one
// took is no pause: on a slow carrier, where a run helps most, it is longer than most
// programs' pauses. To hand every message
// to the network by itself then costs ten times what it takes to make it. So in a
// run messages wait for each other, share packets where they are small, and share
// the call that sends them. What waits goes out with the next turn of the engine:
// when there is enough of it (engine.HoldFull), when any call of the node looks for
// frames, and else with the node's own goroutine, which is made ready to run when
// the waiting begins. There is no timer.
const (
	batchPause   = 4 * time.Microsecond // longer than that between two sends, on the average of those without a clock, ends a run
	batchAfter   = 16                   // sends in a row that are a run
	batchLongest = 4096                 // bytes of the longest message that waits for others
	batchClock   = 8                    // sends in a run for which the clock is read once: it costs half of a send
)

// sendTime is the time to give a send.
func (n *localNode) sendTime() time.Duration {
	if n.sendsInRow > batchAfter && n.sendsInRow%batchClock != 0 {
		return n.latest
	}
	n.latest = n.now()
	return n.latest
}

// inBatch reports whether a message of k bytes that is sent at now waits for others.
func (n *localNode) inBatch(now time.Duration, k int) bool {
	if n.unclocked++; now > n.sent {
		if now-n.sent > batchPause*n.unclocked {
			n.sendsInRow = 0
		}
		n.resume(now)
	}
	n.sendsInRow++
	return n.sendsInRow > batchAfter && k <= batchLongest
}

// batching reports whether a run goes on, for whose messages the background goroutine need not look at the
// devices.
func (n *localNode) batching() bool {
	return n.sendsInRow > batchAfter && n.actives == 0 && n.now()-n.sent < doze
}

// afterSend ends the turn of a sender of k bytes: out with the frames, unless they wait for more;
// now and then a full poll, so that a sender that never waits hears acknowledgements
// too.
func (n *localNode) afterSend(now time.Duration, k int) {
	if n.eng.Holding() && !n.eng.Output() {
		n.askFlush()
		return
	}
	n.sends += 1 + k/batchLongest
	n.poll(now, n.sends >= pollAfterSends || n.eng.Holding(), false)
	if n.eng.Holding() {
		n.askFlush()
	}
	n.resume(n.now())
}

// resume begins the next pause of whoever sends, at now.
func (n *localNode) resume(now time.Duration) { n.sent, n.unclocked = now, 0 }

// askFlush makes the node's own goroutine ready to send what waits.
func (n *localNode) askFlush() {
	if !n.flushAsked {
		n.flushAsked = true
		n.backgroundParker.rouse()
		signal(n.backgroundWake)
		n.resume(n.now()) // that was a system call, perhaps
	}
}
