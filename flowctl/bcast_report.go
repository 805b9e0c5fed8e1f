// SPDX-License-Identifier: Apache-2.0

package flowctl

import "time"

// WatchBroadcast has this link repeat the report of what is missing of the peer's
// broadcasts, as long as nothing moves: after four round trips, then twice as long each
// time, up to an interval. The node calls it on the link that carries the reports when a
// broadcast packet was deferred, or a STATE told of more than came; more often is harmless. As
// a kernel a link reports by number and tick alone.
func (l *Link) WatchBroadcast(now time.Duration) {
	if b := l.bcast; b.Gap() > 0 {
		b.noteMove(now)
		l.lookBy(b.moved + l.reportWait(b.repeats))
	}
}

// noteMove begins the wait anew when packets have had their turn since it was looked last.
func (b *BroadcastReceiver) noteMove(now time.Duration) {
	if b.watched != b.rcvNxt {
		b.watched, b.moved, b.repeats = b.rcvNxt, now, 0
	}
}

// repeatBroadcastReport reports what is missing of the peer's broadcasts once more if
// that is due, and says when to look again.
func (l *Link) repeatBroadcastReport(now time.Duration) {
	b := l.bcast
	b.noteMove(now)
	if now >= b.moved+l.reportWait(b.repeats) {
		l.RepeatedReports++
		l.sendState(now, stateOptions{})
		b.repeats = min(b.repeats+1, 16)
		b.moved = now
	}
	l.lookBy(b.moved + l.reportWait(b.repeats))
}

// SetMember tells what the peer is on the node's own broadcast link: while it is behind
// there, every tick of a link to it has a STATE. Source: docs/spec/02-link.md §3.
func (b *BroadcastReceiver) SetMember(m *Member) { b.member = m }

// owed reports whether the peer has not acknowledged all broadcasts of this node.
func (b *BroadcastReceiver) owed() bool { return b.member != nil && b.member.Behind() }
