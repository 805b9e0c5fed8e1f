// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// What the group protocol has to say is said later when there is no memory for it: each
// kind once.
func TestGroupOwes(t *testing.T) {
	refuse, once := false, false // all, or the next one
	arena := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(netdev.Use) bool {
		was := refuse || once
		once = false
		return was
	}})
	c := &groupPeers{peers: peersOn(t, arena, 1, 2)}
	var err error
	if c.g, err = c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}}); err != nil {
		t.Fatal(err)
	}
	c.peerList[0].listen(1, groupType, 2, 2)
	c.forget()
	starve := func(what string, lines []string, do func()) {
		t.Helper()
		refuse = true
		do()
		refuse = false
		c.after(what+", no memory", "", "")
		if c.g.again.isSet() != (len(lines) > 0) {
			t.Errorf("%s: not tried again", what)
		}
		c.now += owedPause
		c.HandleTimeout(c.now)
		c.collect()
		c.after(what, "", "", lines...)
	}
	// Frames of peers need chunks too, so they are handled behind the engine's door.
	tell := func(i int, typ frame.GroupType, number, window uint16) func() {
		return func() {
			f := frame.GroupFields{
				Common: frame.Common{Prev: c.peerList[i].addr}, OrigPort: 5, Orig: c.peerList[i].addr,
				DestPort: c.g.Addr().Port, Dest: c.Address(), Type: typ, Number: number, Window: window,
			}
			m, _ := frame.Parse(f.Append(nil))
			c.handleGroup(c.now, c.node(i), m)
		}
	}
	data := func(i int, number frame.Seq, ask bool) func() {
		return func() {
			m, _ := frame.Parse(c.data(i, frame.GroupBcastMsg, number, 10, func(f *frame.PayloadFields) { f.Upper = frame.GroupWord(number, ask) }))
			p, _ := frame.ParsePayload(m)
			c.handleGroupData(c.now, c.node(i), p, nil, false)
		}
	}
	starve("JOIN answered", []string{"group/adv G>5 window=65"}, tell(0, frame.GroupJoin, 100, 65))
	starve("reclaimed", []string{"group/remit G>5 window=65"}, tell(0, frame.GroupReclaim, 0, 0))
	refuse = true
	data(0, 100, true)()
	refuse = false
	c.now += owedPause
	c.HandleTimeout(c.now)
	c.after("acknowledged", "100", "", "group/ack G>5 next=101", "group/adv G>5 window=716")
	once = true // without memory for the name contact would be lost
	c.g.Leave(c.now)
	if len(c.groups.all) != 1 || c.ports[c.g.Addr().Port] == nil {
		t.Error("the number is free though the members were not told")
	}
	c.g.Leave(c.now)
	c.now += owedPause
	c.HandleTimeout(c.now)
	c.after("left", "", "", "group/leave G>5 next=0")
	if len(c.groups.all) != 0 || c.Ports() != 0 {
		t.Errorf("%d groups, %d ports are left", len(c.groups.all), c.Ports())
	}
	c.done("")
}

// Where a member's node goes meanwhile nothing is owed any more.
func TestGroupOwesNobody(t *testing.T) {
	once := false // the next one is refused
	arena := newArena(t, netdev.ArenaConfig{Small: 1024, Poison: true, Refuse: func(netdev.Use) bool {
		was := once
		once = false
		return was
	}})
	c := &groupPeers{peers: peersOn(t, arena, 1, 1)}
	var err error
	if c.g, err = c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}}); err != nil {
		t.Fatal(err)
	}
	c.peerList[0].listen(1, groupType, 2, 2)
	once = true // without memory for the name contact would be lost
	c.g.Leave(c.now)
	if len(c.groups.all) != 1 {
		t.Fatal("nothing is owed")
	}
	c.on(0, 0).leave()
	c.now += time.Second
	c.HandleTimeout(c.now)
	if len(c.groups.all) != 0 || c.Ports() != 0 {
		t.Errorf("%d groups, %d ports are left", len(c.groups.all), c.Ports())
	}
	c.done("")
}

// A member that holds up a send is granted all that it may have first: it may wait for
// us, too (spec 08 §6.1).
func TestGroupGrantsBeforeItWaits(t *testing.T) {
	c := newGroupPeers(t, 1)
	c.member(0).flow.Sent(65)
	for i := range frame.Seq(11) {
		c.cast(0, 100+i)
		c.texts()
	}
	c.after("read", "", "", "group/adv G>5 window=716")
	for _, lines := range [][]string{{"group/adv G>5 window=10"}, nil} {
		if _, ok := c.g.Send(c.now, []byte("x")).(*MemberBlocked); !ok {
			t.Error("not blocked")
		}
		c.after("blocked", "", "", lines...)
	}
	c.done("")
}
