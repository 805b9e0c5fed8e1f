// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A BroadcastConfig says what the sending end of a broadcast link is made of.
type BroadcastConfig struct {
	*Local                  // of its own: IfName is the link's name
	NetID     uint32        // of the network, in every packet
	Window    int           // packets sent and not acknowledged by all, 1 to 50; 0 is 50
	Tolerance time.Duration // as that of the links to the members; 0 is DefaultTolerance
}

// A BroadcastSender is the sending end of a node's broadcast link: a Link's sending half
// that is up at all times, and whose packets go to many. Whoever is to answer for them
// is a Member. A packet is released when every member that was there when it was
// first sent has acknowledged it, or has left.
//
//	            Join                    HandleAck, HandleReport, Leave
//	              │                                 │
//	Send ──► backlog ──► numbered, owed by all members ──► owed by none: released
//	                  └► no member: dropped    └──► missing by one: repeated to all
//
// Numbers begin at 1 with the first member; as a kernel, anew when the last has left.
//
// Of the frames that NextFrame returns the first 14 bytes are for the node to write, as
// each bearer has a station of its own. The node carries out the events Room, Stuck and
// Ask; there are no others. What else a Link can be told is not for this one: it has no
// peer, and no messages of the link protocol.
// Source: docs/spec/04-broadcast.md §2, §3.
type BroadcastSender struct {
	*Link
	netID   uint32
	members []*Member

	Unheard uint64 // packets dropped as there was no member
}

// NewBroadcastSender makes the sending end of a broadcast link, without members. Its MTU
// is 1500 bytes until SetMTU.
func NewBroadcastSender(c BroadcastConfig) *BroadcastSender {
	if c.Tolerance == 0 {
		c.Tolerance = DefaultTolerance
	}
	if c.Window == 0 {
		c.Window = bcastWindow
	}
	w := min(c.Window, bcastWindow)
	s := &BroadcastSender{netID: c.NetID}
	s.Link = NewLink(0, Config{
		Local: c.Local, MTU: 1500, Tolerance: c.Tolerance, MinWindow: w, MaxWindow: w,
		Broadcast: NewBroadcastReceiver(c.Self),
	}, 0)
	s.cast, s.state, s.next = s, Established, Never
	return s
}

// SetMTU changes the largest packet, in bytes, for packets that are built from now on; 0
// changes nothing.
func (s *BroadcastSender) SetMTU(mtu int) {
	if mtu > 0 {
		s.mtu, s.ownMTU = int32(mtu), int32(mtu)
	}
}

// SetWindow changes the number of packets that may be sent and not acknowledged by all,
// at once. It is between 1 and 50; values outside are moved to the nearest bound.
func (s *BroadcastSender) SetWindow(now time.Duration, packets int) {
	packets = min(packets, bcastWindow)
	s.Link.SetWindow(now, packets, packets)
}

// Name is the link's name as tipc(8) shows it.
func (s *BroadcastSender) Name() string { return s.cfg.IfName }

// Members is the number of members.
func (s *BroadcastSender) Members() int { return len(s.members) }

// Last is the number of the last packet that was sent, of a nil sender 0.
func (s *BroadcastSender) Last() frame.Seq {
	if s == nil {
		return 0
	}
	return s.sndNxt - 1
}

// Hold is Link.Hold; without a member the message is dropped at once.
func (s *BroadcastSender) Hold(b *netdev.Buffer, imp frame.Importance) error {
	if len(s.members) == 0 {
		s.Unheard++
		b.Release()
		return nil
	}
	return s.Link.Hold(b, imp)
}

// stamp makes a message the link's next packet and returns how many members are to
// acknowledge it. With none it is not to be sent.
func (s *BroadcastSender) stamp(now time.Duration, msg []byte) (members int) {
	if len(s.members) == 0 {
		s.Unheard++
		return 0
	}
	frame.StampBroadcast(msg, s.sndNxt, s.netID)
	if s.next == Never {
		s.next = now + s.sup.Interval()
	}
	return len(s.members)
}

// tick does what is done at every interval, until the link falls idle.
func (s *BroadcastSender) tick() {
	s.estimate = 0
	for _, m := range s.members {
		s.estimate = max(s.estimate, m.rtt)
	}
	s.takeSample()
	if s.sndNxt == s.checkpoint {
		s.forget()
		if s.Idle() {
			s.next = Never
		}
	}
	s.checkpoint = s.sndNxt
}

// calmMembers is the number of members that may be probed at once, however short the wait.
const calmMembers = 100

// calm is how many times as patient the link is for its many members: each may have to
// be probed, and answers.
func (s *BroadcastSender) calm() time.Duration {
	return max(1, time.Duration(len(s.members)/calmMembers))
}

// purge drops everything, as there is nobody left. Who waits for room has it. A kernel
// begins anew with its numbers; here they go on, and the next member is told where: what a
// stalled device still has of the packets before is then nobody's next.
func (s *BroadcastSender) purge(now time.Duration) {
	s.dropOut()
	s.trim()
	if q := s.backlog; q != nil {
		for q.Len() > 0 {
			w := q.Pop()
			q.waiting[w.imp]--
			q.leave(w.b, w.imp)
			w.b.Release()
			s.Unheard++
		}
		if q.turnedAway != 0 {
			s.invite(now)
		}
	}
	s.events &^= Ask
	if s.cfg.AsKernel {
		s.sndNxt, s.checkpoint = s.first(), s.first()-1
	}
	s.recovery = recovery{look: Never}
}
