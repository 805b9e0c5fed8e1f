// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
)

// A blockedSenders is the senders that were turned away because the backlog of their
// importance was full. Sets have a bit for each importance.
//
//	turned away ──(room)──► invited, event Room ──► TakeRoom ──► they send
//	     ▲                       │ room gone, or Want                │
//	     └───────────────────────┴───────────────────────────────────┘
type blockedSenders struct {
	turnedAway uint8         // somebody was, and has not been told of room since
	invited    uint8         // told, by event Room, but not asked for yet
	timed      bool          // turnedAway has been set since the time in since
	since      time.Duration // when somebody was turned away
}

// turnAway notes that somebody waits for room at an importance.
func (c *blockedSenders) turnAway(imp frame.Importance) { c.turnedAway |= 1 << imp }

// blockedAt notes since when somebody has been waiting.
func (l *Link) blockedAt(now time.Duration) {
	if q := l.backlog; q != nil && q.turnedAway != 0 && !q.timed {
		q.timed, q.since = true, now
	}
}

// invite tells those turned away of the room there is.
func (l *Link) invite(now time.Duration) {
	q := l.backlog
	l.blockedAt(now)
	for imp := frame.Low; imp <= frame.System; imp++ {
		if bit := uint8(1) << imp; q.turnedAway&bit != 0 && !l.Congested(imp) {
			q.turnedAway &^= bit
			q.invited |= bit
			l.events |= Room
		}
	}
	if q.turnedAway == 0 {
		l.unblock(now)
	}
}

// unblock closes the time during which somebody was turned away.
func (l *Link) unblock(now time.Duration) {
	if q := l.backlog; q != nil && q.timed {
		l.Blocked += now - q.since
		q.timed = false
	}
}

// TakeRoom returns, after event Room, how many packets of each importance for which
// senders were turned away have room now, 0 where none was. The owner wakes that many
// senders in the order they came; when more are left it calls Want.
func (l *Link) TakeRoom() (room [frame.System + 1]int) {
	q := l.backlog
	if q == nil {
		return room
	}
	for imp := range room {
		if q.invited&(1<<imp) == 0 {
			continue
		}
		if room[imp] = l.Vacant(frame.Importance(imp)); room[imp] == 0 {
			q.turnAway(frame.Importance(imp)) // somebody was faster
		}
	}
	q.invited = 0
	return room
}

// Want asks to be told of room at an importance as if a message had been turned away.
func (l *Link) Want(now time.Duration, imp frame.Importance) {
	l.needBacklog().turnAway(imp)
	l.invite(now)
}

// Limit is the number of packets of an importance that may wait for the window.
// System has room for all names of a node besides: the kernel checks its limit of
// 65535/(mtu/20) once for the whole bulk, here every packet is counted.
// Source: docs/spec/02-link.md §6.1; docs/spec/05-naming.md §3.
func (l *Link) Limit(imp frame.Importance) int {
	limit := int(l.least) * 2 * (int(imp) + 1)
	if imp == frame.System {
		limit += 65535 / max(1, (l.MTU()-2*frame.IntLen)/frame.NameItemLen)
	}
	return limit
}

// Vacant is the number of packets of an importance for which there is room.
func (l *Link) Vacant(imp frame.Importance) int { return max(0, l.Limit(imp)-l.waits(imp)) }

// Congested reports whether Send would turn a message of this importance away.
func (l *Link) Congested(imp frame.Importance) bool {
	return l.backlog != nil && l.backlog.waiting[imp] >= l.Limit(imp)
}

// waits is the number of packets of an importance that wait for the window.
func (l *Link) waits(imp frame.Importance) int {
	if l.backlog == nil {
		return 0
	}
	return l.backlog.waiting[imp]
}
