// SPDX-License-Identifier: Apache-2.0

package stack

import "time"

// A run is senders that send without pause: each message comes within a microsecond
// after the last one was done with, and none of them has waited. To hand every one
// to the network then costs ten times what it takes to make it. So in a run small
// messages wait for each other and share packets. What waits goes out with the next
// turn of the engine: when it fills some packets, when any call of the node looks for
// frames, and else with the node's own goroutine, which is made ready to run when the
// waiting begins. There is no timer.
const (
	runPause = time.Microsecond // longer than that between two sends ends a run
	runStart = 16               // sends in a row that are a run
	runPart  = 3                // a message larger than a packet's n-th part goes out at once
)

// shareLimit works out which messages are small.
func (n *Node) shareLimit() {
	n.shareable = 0
	for _, a := range n.attached {
		if !n.cfg.NoBundles {
			n.shareable = max(n.shareable, n.carried(a.mtu)/runPart)
		}
	}
}

// inRun reports whether a message of k bytes that is sent at now belongs to a run and
// waits for others.
func (n *Node) inRun(now time.Duration, k int) bool {
	if now-n.sent > runPause {
		n.run = 0
	}
	n.run++
	return n.run > runStart && k < n.shareable
}

// afterSend ends a sender's turn: out with the frames, unless they wait for more;
// now and then a full lap, so that a sender that never waits hears acknowledgements
// too.
func (n *Node) afterSend(now time.Duration) {
	if n.eng.Holding() && !n.eng.Output() {
		if !n.flushAsked {
			n.flushAsked = true
			n.pumpSeat.rouse()
			signal(n.pumpWake)
		}
		n.sent = now
		return
	}
	n.sends++
	n.lap(now, n.sends >= sendLaps || n.eng.Holding())
	n.sent = n.now()
}
