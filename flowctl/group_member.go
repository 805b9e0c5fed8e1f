// SPDX-License-Identifier: Apache-2.0

package flowctl

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=GroupState -linecomment

// A GroupState is where a member stands in the flow control of a GroupFlow.
type GroupState uint8

const (
	GroupUnjoined   GroupState = iota // not joined
	GroupJoined                       // joined
	GroupPending                      // pending
	GroupActive                       // active
	GroupReclaiming                   // reclaiming
	GroupRemitted                     // remitted
)

func (s GroupState) busy() bool {
	return s == GroupActive || s == GroupReclaiming || s == GroupRemitted
}

// GroupDue is what is to be sent to a member.
type GroupDue uint8

const (
	DueJoin    GroupDue = 1 << iota // that we are in the group
	DueAck                          // that its broadcast has come
	DueAdv                          // how much it may send
	DueReclaim                      // that it give back most of that
	DueRemit                        // what we give back
	DueLeave                        // that we are not
)

// A GroupMember is flow control with one member of a group, both ways. The member is
// counted in a GroupFlow.
type GroupMember struct {
	window     int // blocks that we may send to it
	advertised int // blocks granted to it, and not read by the program
	unread     int // of them those that have come
	state      GroupState
	due        GroupDue
	awaited    bool // its acknowledgement is, see GroupAcks

	in         *memberList
	prev, next *GroupMember
}

// State is where the member stands.
func (m *GroupMember) State() GroupState { return m.state }

// Window is how many blocks may be sent to the member now.
func (m *GroupMember) Window() int { return m.window }

// Advertised is how many blocks the member may have sent that the program has not read.
func (m *GroupMember) Advertised() int { return m.advertised }

// Unread is how many of them have come.
func (m *GroupMember) Unread() int { return m.unread }

// Due is what is to be sent to the member.
func (m *GroupMember) Due() GroupDue { return m.due }

// Owe adds to what is to be sent, Paid takes away from it.
func (m *GroupMember) Owe(d GroupDue) { m.due |= d }

// Paid takes away from what is due.
func (m *GroupMember) Paid(d GroupDue) { m.due &^= d }

// Open reports whether a message of so many blocks may be sent to the member.
func (m *GroupMember) Open(blocks int) bool { return m.window >= blocks }

// Sent counts a message that was sent. A group's broadcast counts for members that did
// not need it, too.
func (m *GroupMember) Sent(blocks int) { m.window = max(0, m.window-blocks) }

// HandleGrant takes blocks that the member grants. It reports false, and takes none, when
// they make more than 65535: no reader has so much room.
func (m *GroupMember) HandleGrant(n uint16) bool {
	if m.window+int(n) > maxWindow {
		return false
	}
	m.window += int(n)
	return true
}

// Remit gives back the window but for GroupIdle, and returns what it was.
func (m *GroupMember) Remit() (remitted uint16) {
	remitted = uint16(m.window)
	m.window = GroupIdle
	return remitted
}

// Unremit takes back a Remit that could not be sent.
func (m *GroupMember) Unremit(remitted uint16) { m.window = int(remitted) }

// level is how much may be granted to the member.
func (m *GroupMember) level() int {
	switch m.state {
	case GroupActive:
		return GroupBusy
	case GroupJoined, GroupPending:
		return GroupIdle
	}
	return 0
}

// Short reports whether the member has less than it may have: one that blocks us is told
// the rest first, lest we both wait for the other.
func (m *GroupMember) Short() bool { return m.level() > m.advertised }

// Arrived counts a message of the member that has come. It reports false, and the message
// is not to be taken, when it is more than was granted.
func (m *GroupMember) Arrived(blocks int) bool {
	if m.unread+blocks > m.advertised {
		return false
	}
	m.unread += blocks
	return true
}

// Unarrive takes back an Arrived of a message that was not taken after all.
func (m *GroupMember) Unarrive(blocks int) { m.unread -= blocks }

// A memberList is members in the order in which they were added.
type memberList struct{ first, last *GroupMember }

func (l *memberList) push(m *GroupMember) {
	m.in, m.prev, m.next = l, l.last, nil
	if l.last == nil {
		l.first = m
	} else {
		l.last.next = m
	}
	l.last = m
}

// unlist takes m out of the list that it is in, if any.
func (m *GroupMember) unlist() {
	l := m.in
	if l == nil {
		return
	}
	if m.prev == nil {
		l.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		l.last = m.prev
	} else {
		m.next.prev = m.prev
	}
	m.in, m.prev, m.next = nil, nil, nil
}
