// SPDX-License-Identifier: Apache-2.0

package flowctl

import "time"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Cause -linecomment

// A Cause is why a link went down.
type Cause uint8

const (
	NoCause        Cause = iota // up
	PeerSilent                  // peer silent
	PeerRestarted               // reset by peer
	PeerStopping                // ended by peer
	Unacknowledged              // not acknowledged for too long
	PriorityChange              // priority changed
	OwnDecision                 // ended by this node
	BearerChange                // interface down, or its MTU changed
	PeerFailover                // peer has moved to another link
	PeerReported                // reported lost, and silent
)

// Orderly reports whether an end wanted it so.
func (c Cause) Orderly() bool { return c == PeerStopping || c == OwnDecision || c == PriorityChange }

// Cause says why the link went down last.
func (l *Link) Cause() Cause { return l.cause }

// Fail takes a link that is up down, for a reason of the own node.
func (l *Link) Fail() { l.fail(OwnDecision) }

// FailAs takes a link that is up down, for the reason given.
func (l *Link) FailAs(c Cause) { l.fail(c) }

// SetMTU follows the own bearer's MTU, in bytes: a link that is up fails, to agree
// with its peer anew; 0 while the bearer carries nothing.
func (l *Link) SetMTU(now time.Duration, mtu int) {
	told := l.ownMTU
	if mtu > 0 {
		l.ownMTU = int32(mtu)
		l.pathMTU = 0
	}
	switch {
	case l.state == Down || l.state == FailingOver:
		l.mtu = l.fits(int(l.ownMTU))
	case l.state == Establishing && l.ownMTU != told:
		l.Restart(now) // the peer may be up already, with what it was told
	}
	l.fail(BearerChange)
}

func (l *Link) fail(c Cause) {
	if l.IsUp() {
		l.state, l.cause = Resetting, c
		switch c {
		case PeerSilent: // it may come back by another path
			l.pathMTU = 0
		case Unacknowledged:
			l.suspectPath()
		}
		l.events |= WentDown
	}
}

// Probe asks the peer for an answer, which acknowledges, at once.
func (l *Link) Probe(now time.Duration) {
	l.sendState(now, stateOptions{probe: true, keepalive: true})
}
