// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A cork keeps a second link from sending more than its first packet until the old one
// has got everything through that was sent before: else, should packets come out of
// order or the old link die in between, a message could overtake one that its sender
// sent before, over the other link. What is sent meanwhile waits in the backlog. A
// kernel has no cork, and loses the order in such cases; no peer can tell.
type cork struct {
	on    bool      // the link sends nothing: it waits, or see moving
	waits bool      // for the old link
	upTo  frame.Seq // of that
}

// Corked reports whether the link waits for the old one, and until which of its
// packets is delivered.
func (l *Link) Corked() (upTo frame.Seq, on bool) { return l.cork.upTo, l.cork.waits }

// Uncork lets the link send what waits, if it is up still.
func (l *Link) Uncork(now time.Duration) {
	if l.cork.waits && l.IsUp() {
		l.cork.waits = false
		l.setCork()
		l.Flush(now)
	}
}

// Delivered reports whether the peer has acknowledged every packet up to n.
func (l *Link) Delivered(n frame.Seq) bool {
	return (l.sndNxt - frame.Seq(l.transmit.Len())).After(n)
}
