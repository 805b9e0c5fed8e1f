// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

const castNet = 4711

// mcast is the header of a multicast message of the sender.
var mcast = frame.PayloadFields{
	Common: frame.Common{Prev: self}, Type: frame.McastMsg,
	OrigPort: 1, OrigNode: self, NameType: 7777, Upper: 10,
}

// newMembers makes the sender of a broadcast link and n members that are believed.
func newMembers(t testing.TB, n int, change ...func(*BroadcastConfig)) *scriptedPeer {
	c := BroadcastConfig{Local: &Local{Self: self, IfName: "broadcast-link", Alone: true}, NetID: castNet}
	for _, f := range change {
		f(&c)
	}
	if c.Arena == nil {
		c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 1024, Poison: true})
	}
	s := NewBroadcastSender(c)
	r := &scriptedPeer{t: t, Link: s.Link, s: s, bc: NewBroadcastReceiver(self), arena: c.Arena}
	for range n {
		r.join()
	}
	return r
}

// join adds a member that is believed.
func (r *scriptedPeer) join() *Member {
	m := r.s.Join()
	m.Confirm()
	r.m = append(r.m, m)
	return m
}

// memberAck lets member i acknowledge by a unicast packet.
func (r *scriptedPeer) memberAck(i int, ack frame.Seq) { r.s.HandleAck(r.now, r.m[i], ack) }

// memberReport lets member i report.
func (r *scriptedPeer) memberReport(i int, ack frame.Seq, gap int, blocks ...frame.GapBlock) (failed bool) {
	return r.s.HandleReport(r.now, r.m[i], ack, gap, castBlocks(blocks...))
}

func castBlocks(blocks ...frame.GapBlock) frame.GapBlocks {
	f := frame.GapAckFields{Bcast: blocks}
	g, _, _ := frame.ParseGapAcks(f.Append(nil))
	return g.Bcast()
}

// asks serves every deadline before end and returns when the link asked.
func (r *scriptedPeer) asks(end time.Duration) (at []time.Duration) {
	for r.s.Deadline() < end {
		r.now = max(r.now, r.s.Deadline())
		r.s.HandleTimeout(r.now)
		if r.s.TakeEvents()&Ask != 0 {
			at = append(at, r.now)
		}
	}
	r.now = end
	return at
}

// owing are the packets under way with the number of members that owe each; 0 where it is
// released.
func (r *scriptedPeer) owing() string {
	var s []string
	for i := range r.transmit.Len() {
		p := r.transmit.At(i)
		s = append(s, fmt.Sprint(r.sndNxt-frame.Seq(r.transmit.Len()-i), ":", p.owing))
	}
	return fmt.Sprint(s)
}

func (r *scriptedPeer) wantOwing(what, want string) {
	r.t.Helper()
	if got := r.owing(); got != want {
		r.t.Errorf("%s: got %v owed, want %v", what, got, want)
	}
}

func (r *scriptedPeer) wantUnder(what string, unacked, backlog int, last frame.Seq) {
	r.t.Helper()
	if r.s.Unacked() != unacked || r.s.Backlog() != backlog || r.s.Last() != last {
		r.t.Errorf("%s: got %d under way, %d waiting, last %d; want %d, %d, %d", what,
			r.s.Unacked(), r.s.Backlog(), r.s.Last(), unacked, backlog, last)
	}
}

func wantTimes(t testing.TB, what string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
