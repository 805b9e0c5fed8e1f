// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// A GroupAcks is who has not acknowledged the group broadcast that was sent with a
// request for that. Until all have no other may be sent: it might go another way, and
// overtake. The zero value waits for nobody. Source: docs/spec/08-groups.md §5.2.
type GroupAcks struct {
	number  frame.Seq
	missing int
}

// Ask begins with a broadcast; each member that it went to is named by Await.
func (a *GroupAcks) Ask(number frame.Seq) { a.number, a.missing = number, 0 }

// Await counts a member whose acknowledgement is missing.
func (a *GroupAcks) Await(m *GroupMember) {
	if !m.awaited {
		m.awaited = true
		a.missing++
	}
}

// Handle takes an acknowledgement: next is the number that the member expects. Exactly
// the broadcast's own number + 1 counts, and once. It reports whether it did.
func (a *GroupAcks) Handle(m *GroupMember, next frame.Seq) bool {
	if !m.awaited || next != a.number+1 {
		return false
	}
	a.Forget(m)
	return true
}

// Forget stops waiting for a member: it is gone.
func (a *GroupAcks) Forget(m *GroupMember) {
	if m.awaited {
		m.awaited = false
		a.missing--
	}
}

// Missing is the number of members whose acknowledgement is missing.
func (a *GroupAcks) Missing() int { return a.missing }

// Awaited reports whether the member's acknowledgement is missing.
func (m *GroupMember) Awaited() bool { return m.awaited }
