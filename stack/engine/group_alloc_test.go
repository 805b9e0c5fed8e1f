// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"encoding/binary"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// hotGroup is a group with two members, whose frames are made beforehand.
type hotGroup struct {
	*hotCast
	g     *Group
	in    *netdev.Buffer // a group broadcast of the first
	next  frame.Seq      // its number
	ready []*Group
}

func newHotGroup(t testing.TB, m Method) *hotGroup {
	c := newGroupPeers(t, 2)
	h := &hotGroup{hotCast: &hotCast{peers: c.peers}, g: c.g, next: 100}
	h.keepAcks()
	h.in = c.on(0, 0).keptFor(frame.BroadcastMAC, c.data(0, frame.GroupBcastMsg, 0, 64, func(f *frame.PayloadFields) { f.DestNode = 0 }))
	for i := range c.peerList {
		c.tell(i, frame.GroupAdv, 0, 60000)
	}
	if err := c.g.Send(c.now, h.payload[:]); err != nil {
		t.Fatal(err)
	}
	for i := range c.peerList {
		c.tell(i, frame.GroupAck, uint16(c.g.next), 0)
	}
	c.g.port.SetMethod(m)
	c.forget()
	return h
}

// settle takes the frames out and lets all acknowledge.
func (h *hotGroup) settle() {
	h.acknowledge()
	h.ready = h.TakeReadyGroups(h.ready[:0])
}

func (h *hotGroup) sendOne() {
	if err := h.g.Send(h.now, h.payload[:]); err != nil {
		h.t.Fatal(err)
	}
	h.settle()
}

func (h *hotGroup) sendTo() {
	if err := h.g.SendAnycast(h.now, 2, h.payload[:]); err != nil {
		h.t.Fatal(err)
	}
	h.settle()
}

func (h *hotGroup) readOne() {
	msg := h.in.Bytes()[frame.EthernetLen:]
	binary.BigEndian.PutUint32(msg[40:], frame.GroupWord(h.next, false))
	h.next++
	frame.StampBroadcast(msg, h.peerList[0].bcast, frame.DefaultNetID)
	h.peerList[0].bcast++
	h.HandleFrame(h.now, 0, h.in)
	if n, _, ok := h.g.Read(h.now, h.buf[:]); !ok || n != len(h.payload) {
		h.t.Fatalf("read %d bytes, %v", n, ok)
	}
	h.settle()
}

// 64 bytes to a group, by either method, to one of it, and from it: nothing is allocated,
// what members are granted meanwhile included.
func TestGroupAllocatesNothing(t *testing.T) {
	b, r := newHotGroup(t, Broadcast), newHotGroup(t, Replicast)
	for _, c := range []struct {
		name string
		f    func()
	}{{"by broadcast", b.sendOne}, {"by copies", r.sendOne}, {"read", b.readOne}, {"anycast", r.sendTo}} {
		for range 300 {
			c.f()
		}
		if got := testing.AllocsPerRun(1000, c.f); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", c.name, got)
		}
	}
	if n := b.Counters(); n.Broadcasts < 1000 {
		t.Errorf("%d broadcasts", n.Broadcasts)
	}
}

func BenchmarkGroupBroadcast(b *testing.B) {
	h := newHotGroup(b, Broadcast)
	for b.Loop() {
		if h.g.members[0].flow.Window() < 100 {
			for _, m := range h.g.members {
				m.flow.HandleGrant(60000)
			}
		}
		h.sendOne()
	}
}

func BenchmarkGroupRead(b *testing.B) {
	h := newHotGroup(b, Broadcast)
	for b.Loop() {
		h.readOne()
	}
}
