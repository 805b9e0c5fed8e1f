// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// A LEAVE is not believed beyond what may come, and one that never comes is not waited
// for.
//
// Proves: hostile.docs
func TestHostileGroupLeave(t *testing.T) {
	for _, n := range []uint16{100, 50, 2000, 40000} {
		c := newGroupPeers(t, 1)
		c.tell(0, frame.GroupLeave, n, 0)
		c.after(fmt.Sprint("LEAVE ", n), fmt.Sprint("event ", MemberLeft), "")
		if len(c.g.members) != 0 {
			t.Errorf("LEAVE %d: it is still there", n)
		}
		c.tell(0, frame.GroupLeave, n, 0)
		c.after("again", "", notMember)
		c.done("")
	}
	c := newGroupPeers(t, 1)
	c.tell(0, frame.GroupLeave, 105, 0)
	c.after("with some to come", "", "")
	c.on(0, 0).packet(c.peerList[0].names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = 2, true }, nameItem(groupType, 2, 2, 5)))
	c.cast(0, 100)
	c.after("one of them", "100", "", "group/adv G>5 window=716")
	for range 70 {
		c.wait(c.now + time.Second/2)
		c.allAck()
	}
	c.after("in the end", fmt.Sprint("event ", MemberLeft), "")
	if len(c.g.members) != 0 || c.g.flow.Members() != 0 || c.g.flow.Busy() != 0 {
		t.Errorf("it is still there")
	}
	c.done("")
}

// A member that says again and again that it leaves, after messages that do not come, takes
// up no more memory than one that says it once.
//
// Proves: hostile.docs
func TestHostileGroupLeaveFlood(t *testing.T) {
	c := newGroupPeers(t, 1)
	for i := range uint16(1000) {
		c.tell(0, frame.GroupLeave, 105+i%900, 0)
	}
	if n := c.member(0).order.Waiting(); n != 1 {
		t.Errorf("%d wait", n)
	}
	for i := range frame.Seq(5) {
		c.cast(0, 100+i)
	}
	c.after("those before it", "100 101 102 103 104 event "+fmt.Sprint(MemberLeft), "not of a member of the group, or more than it may send=999")
	c.done("")
}

// What comes for a group that was left, or for a member that is gone, is dropped.
//
// Proves: hostile.docs
func TestHostileGroupAfterLeave(t *testing.T) {
	c := newGroupPeers(t, 2)
	c.cast(0, 101) // waits
	c.cast(0, 100)
	c.g.Leave(c.now)
	c.drops()
	c.drain()
	for i := range c.peerList {
		c.cast(i, 102)
		c.on(i, 0).packet(c.data(i, frame.GroupUcastMsg, 102, 10, nil))
		for typ := range frame.GroupRemit + 1 {
			c.tell(i, typ, 102, 1)
		}
	}
	c.after("after Leave", "", "nobody to take it, and not to be returned=16")
	if _, _, ok := c.g.Read(c.now, nil); ok {
		t.Error("read something")
	}
	for _, err := range []error{c.g.Send(c.now, []byte("x")), c.g.SendTo(c.now, c.peerList0(), []byte("x")), c.g.SendAnycast(c.now, 2, []byte("x")), c.g.SendMulticast(c.now, 2, []byte("x"))} {
		if err != ErrClosed {
			t.Errorf("sending: %v", err)
		}
	}
	c.done("")
	c = newGroupPeers(t, 1)
	c.cast(0, 101)
	c.on(0, 0).leave()
	c.after("node lost", fmt.Sprint("event ", MemberLeft), "")
	c.done("")
}

// An ordinary socket that is bound to the type never joins: a strict sender waits for it,
// and is told so, until it unbinds (spec 08 §7). Others leave it behind.
//
// Proves: hostile.docs
func TestHostileGroupNeverJoins(t *testing.T) {
	for _, policy := range []SlowPolicy{Strict, Lag, DropOldest} {
		c := newGroupPeers(t, 1, func(k *GroupConfig) { k.Policy, k.Limit = policy, 4 })
		c.on(0, 0).packet(c.peerList[0].names(func(f *frame.NamesFields) { f.UpdateSeq = 2 }, nameItem(groupType, 9, 9, 6)))
		c.drain()
		var err error
		for range 10 {
			if err = c.g.Send(c.now, []byte("x")); err != nil {
				break
			}
			c.drain()
		}
		if b, ok := err.(*MemberBlocked); (policy == Strict) != ok || ok && (b.Member.Port != 6 || b.Window != 0) {
			t.Errorf("policy %d: %+v", policy, err)
		}
		c.on(0, 0).packet(c.peerList[0].names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = 3, true }, nameItem(groupType, 9, 9, 6)))
		if err := c.g.Send(c.now, []byte("x")); err != nil {
			t.Errorf("policy %d: %v", policy, err)
		}
		if len(c.g.members) != 1 {
			t.Errorf("policy %d: %d members", policy, len(c.g.members))
		}
		c.done("")
	}
}
