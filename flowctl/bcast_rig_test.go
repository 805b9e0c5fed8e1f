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

// A castRig is the sending end of a broadcast link whose members are played by the test.
type castRig struct {
	*rig // its Link is the sender's
	s    *BroadcastSender
	m    []*Member
}

// newCastRig has n members that are believed.
func newCastRig(t testing.TB, n int, change ...func(*BroadcastConfig)) *castRig {
	c := BroadcastConfig{Local: &Local{Self: self, IfName: "broadcast-link", Alone: true}, NetID: castNet}
	for _, f := range change {
		f(&c)
	}
	if c.Arena == nil {
		c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 1024, Poison: true})
	}
	s := NewBroadcastSender(c)
	r := &castRig{rig: &rig{t: t, Link: s.Link, bc: NewBroadcastReceiver(self), arena: c.Arena}, s: s}
	for range n {
		r.join()
	}
	return r
}

// join adds a member that is believed.
func (r *castRig) join() *Member {
	m := r.s.Join()
	m.Confirm()
	r.m = append(r.m, m)
	return m
}

// message is a multicast message for Send, with n bytes of data.
func (r *castRig) message(n int) *netdev.Buffer {
	b := r.arena.Get(frame.EthernetLen+frame.McastLen+n, netdev.Data)
	if b == nil {
		r.t.Fatal("no chunk")
	}
	b.Extend(frame.EthernetLen + frame.McastLen + n)
	r.write(b.Bytes()[frame.EthernetLen:])
	return b
}

// write writes a multicast message that fills msg.
func (r *castRig) write(msg []byte) {
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Type: frame.McastMsg,
		OrigPort: 1, OrigNode: self, NameType: 7777, Upper: 10,
	}
	f.Put(msg, len(msg)-frame.McastLen)
	clear(msg[frame.McastLen:])
}

// send sends n messages of 4 bytes.
func (r *castRig) send(n int) *castRig {
	r.t.Helper()
	for range n {
		if err := r.s.Send(r.now, r.message(4), frame.Low); err != nil {
			r.t.Fatal(err)
		}
	}
	return r
}

// ack lets member i acknowledge by a unicast packet.
func (r *castRig) ack(i int, ack frame.Seq) { r.s.HandleAck(r.now, r.m[i], ack) }

// report lets member i report.
func (r *castRig) report(i int, ack frame.Seq, gap int, blocks ...frame.GapBlock) (failed bool) {
	return r.s.HandleReport(r.now, r.m[i], ack, gap, castBlocks(blocks...))
}

func castBlocks(blocks ...frame.GapBlock) frame.GapBlocks {
	f := frame.GapAckFields{Bcast: blocks}
	g, _, _ := frame.ParseGapAcks(f.Append(nil))
	return g.Bcast()
}

// asks serves every deadline before end and returns when the link asked.
func (r *castRig) asks(end time.Duration) (at []time.Duration) {
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
func (r *castRig) owing() string {
	var s []string
	for i := range r.transmit.Len() {
		p := r.transmit.At(i)
		s = append(s, fmt.Sprint(r.sndNxt-frame.Seq(r.transmit.Len()-i), ":", p.owing))
	}
	return fmt.Sprint(s)
}

func (r *castRig) wantOwing(what, want string) {
	r.t.Helper()
	if got := r.owing(); got != want {
		r.t.Errorf("%s: got %v owed, want %v", what, got, want)
	}
}

func (r *castRig) wantUnder(what string, unacked, backlog int, last frame.Seq) {
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
