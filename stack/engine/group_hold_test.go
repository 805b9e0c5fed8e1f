// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// newHeldPeers has peers with members in a group, and the engine join it while its groups
// are held.
func newHeldPeers(t *testing.T, peerList int) *groupPeers {
	t.Helper()
	c := &groupPeers{peers: newPeers(t, 1, peerList)}
	for i := range peerList {
		c.peerList[i].listen(1, groupType, uint32(i+2), uint32(i+2))
	}
	c.forget()
	c.HoldGroups(c.now, true)
	var err error
	if c.g, err = c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}, Events: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// lines returns what the engine has sent of groups: to which peer, what, and with which
// acknowledgement.
func (c *groupPeers) lines() string {
	var s []string
	for _, l := range c.drain() {
		if to, what, ok := strings.Cut(l, " group/"); ok {
			f := strings.Fields(what) // kind, ports, fields
			s = append(s, strings.Join(append([]string{to[2:], f[0]}, f[2:]...), " "))
		}
	}
	return strings.Join(s, "; ")
}

// A held group's JOIN acknowledges what it has not heard of, and grants nothing: capture
// 22, frames 57 to 61.
//
// Proves: group.kernels
func TestGroupHeld(t *testing.T) {
	c := newHeldPeers(t, 2)
	want := func(what, lines string) {
		t.Helper()
		if got := c.lines(); got != lines {
			t.Errorf("%s: got %q, want %q", what, got, lines)
		}
	}
	want("it has joined", "")
	if !c.TellGroup(c.now) {
		t.Error("nobody to tell")
	}
	want("the last member first", "2 join next=0 window=0 seq=3 ack=3")
	c.tell(0, frame.GroupJoin, 100, 65)
	c.on(0, 0).packet(c.data(0, frame.GroupBcastMsg, 100, 10, nil))
	want("a member joins and sends", "")
	if !c.TellGroup(c.now) {
		t.Error("nobody to tell")
	}
	want("the other one", "1 join next=0 window=0 seq=3 ack=5")
	for c.TellGroup(c.now) { // of its own binding
	}
	want("nobody else", "")
	c.HoldGroups(c.now, false)
	want("it goes on", "1 adv window=65 seq=4 ack=5")
	if got := strings.Join(c.texts(), " "); got != "event joined 100" {
		t.Errorf("read %q, want that the member is there, and its broadcast 100", got)
	}
	want("all is read", "1 adv window=716 seq=5 ack=5")
	if c.TellGroup(c.now) {
		t.Error("there is news of what is not held")
	}
	c.tell(1, frame.GroupJoin, 100, 65)
	want("not held", "2 adv window=65 seq=4 ack=4")
	c.done("")
}

// What waits for held groups has a limit, and ends with contact.
//
// Proves: group.kernels
func TestGroupHeldLimits(t *testing.T) {
	c := newHeldPeers(t, 2)
	const many = 10
	for range maxForGroups + many {
		c.tell(0, frame.GroupAdv, 0, 0)
	}
	c.wantDrops("a flood", strings.Replace(notMember, "=1", "=10", 1))
	c.HoldGroups(c.now, false)
	if got := c.lines(); strings.Count(got, "join") != 2 {
		t.Errorf("got %q, want a JOIN to each member", got)
	}
	c.forget()

	c.HoldGroups(c.now, true)
	c.tell(1, frame.GroupJoin, 100, 65)
	c.on(1, 0).leave()
	c.drops()
	c.HoldGroups(c.now, false)
	if got := c.drops(); got == "" || c.member(1) != nil {
		t.Errorf("dropped %q, member %v; want the JOIN dropped", got, c.member(1))
	}
	c.wait(c.now + time.Second)
	c.done("")
}

// Members are told at the latest when groups go on.
func TestGroupHeldAndQuiet(t *testing.T) {
	c := newHeldPeers(t, 1)
	c.HoldGroups(c.now, false)
	if got, want := c.lines(), "1 join next=0 window=0 seq=3 ack=3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.done("")
}
