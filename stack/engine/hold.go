// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// HoldFull is the number of full packets held back that go out without Flush.
const HoldFull = 24

// Hold makes messages sent from now on wait for Flush, so that they share packets,
// or ends that. What is held goes out by itself when it fills HoldFull packets.
// Its owner calls Flush at the end of every turn but those of a sender that sends
// without pause.
func (e *Engine) Hold(on bool) { e.hold = on }

// holdBack notes that a link has messages that wait for Flush.
func (e *Engine) holdBack(now time.Duration, l *link) {
	if l.Backlog() > HoldFull {
		l.FlushFull(now)
	}
	if !l.held {
		l.held = true
		e.held = append(e.held, l)
	}
}

// Holding reports whether messages wait for Flush.
func (e *Engine) Holding() bool { return len(e.held) > 0 }

// Output reports whether there are frames to send.
func (e *Engine) Output() bool {
	for _, b := range e.bearers {
		if b.out.Len() > 0 {
			return true
		}
	}
	return false
}

// Flush sends what was held back, as far as the links' windows allow.
func (e *Engine) Flush(now time.Duration) {
	for i := 0; i < len(e.held); i++ { // what follows may hold more back
		l := e.held[i]
		l.held = false
		if l.IsUp() {
			l.Flush(now)
			e.after(now, l)
		}
		e.held[i] = nil
	}
	e.held = e.held[:0]
}
