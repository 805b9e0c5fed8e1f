// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A draining finds out when all has come that the peer had put on the link before: sent, or
// waiting in its backlog, of which nothing on the wire tells. It asks with a probe that
// acknowledges everything delivered. By that the peer sends what waits; so where its answer
// says that nothing was sent since, nothing waited. An answer to a probe before that one does
// not count: the peer may have given it while its window was full.
type draining struct {
	on   bool
	skip uint8     // answers to earlier probes that may come first
	ack  frame.Seq // of the probe
}

// AskDrained asks the peer whether all has come that it has put on the link so far. Event
// Drained says that it has; where it has not there is none, and the owner asks again after a
// while, but not before the answer to this has come, or cannot come any more: answers do not say
// which probe is meant.
func (l *Link) AskDrained(now time.Duration) {
	l.draining = draining{on: true, skip: l.probes, ack: l.rcvNxt - 1}
	l.Probe(now)
}

// AsksDrained reports whether the answer has not come yet.
func (l *Link) AsksDrained() bool { return l.draining.on }

// answered takes the peer's answer to a probe, and the next number it will send.
func (d *draining) answered(next frame.Seq) (drained bool) {
	switch {
	case !d.on:
	case d.skip > 0:
		d.skip--
	default:
		d.on = false
		return next == d.ack+1
	}
	return false
}
