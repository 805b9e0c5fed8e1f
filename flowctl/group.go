// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math"

	"github.com/utipc/utipc/frame"
)

// Windows in a group, in blocks of 1 KiB. Source: docs/spec/08-groups.md §6.
const (
	// GroupIdle is what a member that has joined may send ahead of the reader: a message
	// of the greatest length.
	GroupIdle = (frame.MaxPayload+60)/blockSize + 1
	// GroupBusy is what one may send that sends much.
	GroupBusy = 12 * GroupIdle

	fewBusy, manyBusy = 16, 64 // the least and the most members with a large window
)

// GroupBlocks is what a message of so many bytes of data takes of a window.
func GroupBlocks(n int) int { return (frame.McastLen+n)/blockSize + 1 }

// A GroupFlow is the receiving half of flow control in a group: how much each member may
// send ahead of this one reading it. Few have a large window at a time.
//
//	          first message is read              too many busy
//	Joined ────────────────────────► Active    Joined ────────► Pending
//	  ▲ ▲                              │                          │
//	  │ │ REMIT, all read              │ many busy: RECLAIM       │ another has left
//	  │ └────────────────── Reclaiming ◄                          ▼
//	  │                         │ REMIT, some unread            Active
//	  └───────── Remitted ◄─────┘
//
// What is to be sent to a member is noted in its Due. The zero value, but for Room, is a
// group without members. Source: docs/spec/08-groups.md §6.2.
type GroupFlow struct {
	Room int // blocks that may be granted to all together; 0: as many as kernels do

	active, pending memberList
	busy            int // members that have, or had, a large window: Active, Reclaiming, Remitted
	members         int
}

// Enter counts a new member, to which nothing is granted until it joins.
func (f *GroupFlow) Enter(m *GroupMember) {
	*m = GroupMember{}
	f.members++
}

// Join makes the member one that may send, once Grant has told it so.
func (f *GroupFlow) Join(m *GroupMember) {
	if m.state == GroupUnjoined {
		m.state = GroupJoined
	}
}

// Leave forgets a member. It returns one that something is due to now, or nil.
func (f *GroupFlow) Leave(m *GroupMember) (other *GroupMember) {
	f.members--
	was := m.state
	m.unlist()
	m.state, m.due = GroupUnjoined, 0
	if was.busy() {
		f.busy--
		return f.promote()
	}
	return nil
}

// Members is the number of members, and Busy that of those with a large window.
func (f *GroupFlow) Members() int { return f.members }

// Busy is the number of members with a large window.
func (f *GroupFlow) Busy() int { return f.busy }

// most is how many may have a large window.
func (f *GroupFlow) most() int {
	n := max(fewBusy, min(f.members/8, manyBusy))
	if f.Room > 0 {
		n = max(0, min(n, (f.Room-f.members*GroupIdle)/(GroupBusy-GroupIdle)-1))
	}
	return n
}

// Grant returns the blocks that a message to m, sent now, may grant it; they count as
// granted.
func (f *GroupFlow) Grant(m *GroupMember) uint16 {
	n := max(0, m.level()-m.advertised)
	m.advertised += n
	return uint16(n)
}

// Ungrant takes back a Grant that could not be sent.
func (f *GroupFlow) Ungrant(m *GroupMember, n uint16) { m.advertised -= int(n) }

// Read counts a message of so many blocks from m that the program has read, or that was
// not for it. Something may be due to m after it, and to the other member, if not nil.
func (f *GroupFlow) Read(m *GroupMember, blocks int) (other *GroupMember) {
	m.advertised -= blocks
	m.unread -= blocks
	switch m.state {
	case GroupJoined:
		return f.wake(m)
	case GroupPending:
		if m.advertised <= GroupIdle/4 { // it need not wait for a member that does not answer
			m.due |= DueAdv
		}
	case GroupActive:
		m.unlist()
		f.active.push(m)
		if m.advertised <= GroupBusy/4*3 {
			m.due |= DueAdv
		}
	case GroupRemitted:
		if m.advertised <= GroupIdle {
			m.state = GroupJoined
			f.busy--
			if m.advertised < GroupIdle {
				m.due |= DueAdv
			}
			return f.promote()
		}
	}
	return nil
}

// wake gives a member that has begun to send a large window, or has it wait for one.
func (f *GroupFlow) wake(m *GroupMember) (other *GroupMember) {
	before, most := f.busy, f.most()
	if before <= most {
		f.activate(m)
		m.due |= DueAdv
	} else {
		m.state = GroupPending
		f.pending.push(m)
	}
	if before < most*3/4 {
		return nil
	}
	switch oldest := f.active.first; {
	case oldest != nil && oldest != m:
		oldest.unlist()
		oldest.state = GroupReclaiming
		oldest.due |= DueReclaim
		return oldest
	case oldest == nil && f.pending.first != nil:
		p := f.pending.first
		p.unlist()
		p.state = GroupJoined
		p.due |= DueAdv
		return p
	}
	return nil
}

func (f *GroupFlow) activate(m *GroupMember) {
	m.state = GroupActive
	f.active.push(m)
	f.busy++
}

// promote gives the large window that has become free to who waits for it longest.
func (f *GroupFlow) promote() *GroupMember {
	p := f.pending.first
	if p == nil {
		return nil
	}
	p.unlist()
	f.activate(p)
	if p.advertised <= GroupBusy/4*3 {
		p.due |= DueAdv
	}
	return p
}

// HandleRemit takes what m says it gives back of its window. It reports false, and
// changes nothing, when m was not asked, or gives back more than it had. Something may be
// due to the other member, if not nil.
func (f *GroupFlow) HandleRemit(m *GroupMember, remitted uint16) (other *GroupMember, ok bool) {
	if m.state != GroupReclaiming || int(remitted) > m.advertised {
		return nil, false
	}
	if sent := m.advertised - int(remitted); sent > 0 {
		m.state = GroupRemitted
		m.advertised = GroupIdle + sent
		return nil, true
	}
	m.state = GroupJoined
	m.advertised = GroupIdle
	f.busy--
	return f.promote(), true
}

// maxWindow is the most blocks that a member may have granted us.
const maxWindow = math.MaxUint16
