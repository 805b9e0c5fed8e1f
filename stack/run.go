// SPDX-License-Identifier: Apache-2.0

package stack

import "time"

// A run is sends without pause: each begins within a few microseconds after the
// last, and no call of the node has begun to wait in between. To hand every message
// to the network by itself then costs ten times what it takes to make it. So in a
// run messages wait for each other, share packets where they are small, and share
// the call that sends them. What waits goes out with the next turn of the engine:
// when there is enough of it (engine.HoldFull), when any call of the node looks for
// frames, and else with the node's own goroutine, which is made ready to run when
// the waiting begins. There is no timer.
const (
	runPause = 4 * time.Microsecond // longer than that from one send to the next ends a run
	runFrame = 4 * time.Microsecond // what a frame sent in between adds to that
	runStart = 16                   // sends in a row that are a run
	runMost  = 4096                 // bytes of the longest message that waits for others
	runClock = 8                    // sends in a run for which the clock is read once: it costs half of a send
)

// sendTime is the time to give a send.
func (n *Node) sendTime() time.Duration {
	if n.run > runStart && n.run%runClock != 0 {
		return n.latest
	}
	n.latest = n.now()
	return n.latest
}

// inRun reports whether a message of k bytes that is sent at now waits for others.
func (n *Node) inRun(now time.Duration, k int) bool {
	if now-n.sent > runPause+n.kicked*runFrame {
		n.run = 0
	}
	n.sent, n.kicked = now, 0
	n.run++
	return n.run > runStart && k <= runMost
}

// afterSend ends the turn of a sender of k bytes: out with the frames, unless they wait for more;
// now and then a full lap, so that a sender that never waits hears acknowledgements
// too.
func (n *Node) afterSend(now time.Duration, k int) {
	if n.eng.Holding() && !n.eng.Output() {
		n.askFlush()
		return
	}
	n.sends += 1 + k/runMost
	n.turn(now, n.sends >= sendLaps || n.eng.Holding(), false)
	if n.eng.Holding() {
		n.askFlush()
	}
}

// askFlush makes the node's own goroutine ready to send what waits.
func (n *Node) askFlush() {
	if !n.flushAsked {
		n.flushAsked = true
		n.pumpSeat.rouse()
		signal(n.pumpWake)
	}
}
