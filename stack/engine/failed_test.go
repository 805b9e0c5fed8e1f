// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// What members and peers are told does not depend on who is lost meanwhile: in each walk
// over them every subset of the nodes has links without room, so that what they are sent
// loses them, in the midst of the walk. The others are sent what they would be if nobody
// was lost, and every lost node is lost once, at the end of the turn.
//
// Mutation that it catches: linkDown in after, in place of noteFailed; members are passed
// over then.
func TestNodesLostWithinWalks(t *testing.T) {
	const peerList = 3
	for _, walk := range []struct {
		name string
		do   func(c *groupPeers)
	}{
		{"Leave", func(c *groupPeers) { c.g.Leave(c.now) }},
		{"what is owed", func(c *groupPeers) {
			for _, m := range c.g.members {
				m.flow.Owe(flowctl.DueAdv | flowctl.DueAck)
			}
			c.g.ring(c.now, &c.g.again)
		}},
		{"a broadcast that has to pay first", func(c *groupPeers) {
			for _, m := range c.g.members {
				m.flow.Owe(flowctl.DueAck)
			}
			c.g.slowest(c.now, 1)
		}},
		{"members that a broadcast goes past", func(c *groupPeers) {
			for _, m := range c.g.members {
				m.flow.Owe(flowctl.DueAck)
			}
			c.g.markPast(c.now, 1)
		}},
		{"members that catch up", func(c *groupPeers) {
			for _, m := range c.g.members {
				m.diverted, m.expects = true, c.g.next
			}
			for _, m := range c.g.members {
				c.g.catchUp(c.now, m)
			}
		}},
		{"names", func(c *groupPeers) {
			for _, n := range c.nodes {
				n.caps &^= frame.CapNamedBcast
			}
			p := c.OpenPort(PortConfig{})
			for i := range uint32(3) {
				p.Bind(c.now, frame.Range{Type: 700, Lower: i, Upper: i}, frame.ClusterScope)
			}
			p.Close(c.now)
		}},
	} {
		want := lostWithin(t, walk.do, peerList, 0)
		for i, lines := range want {
			if lines == "" {
				t.Errorf("%s: peer %d is sent nothing though nobody is lost", walk.name, i)
			}
		}
		for lost := 1; lost < 1<<peerList-1; lost++ {
			for i, lines := range lostWithin(t, walk.do, peerList, lost) {
				if lost&(1<<i) == 0 && lines != want[i] {
					t.Errorf("%s: with %04b lost peer %d was sent\n%swant\n%s", walk.name, lost, i, lines, want[i])
				}
			}
		}
	}
}

// lostWithin returns what each peer was sent of names and of the group by a walk in which
// the peers of a set are lost.
func lostWithin(t *testing.T, do func(c *groupPeers), peerList, lost int) (sent []string) {
	t.Helper()
	c := &groupPeers{peers: peersOn(t, newArena(t, netdev.ArenaConfig{Small: 16384}), 1, peerList)}
	var err error
	if c.g, err = c.Join(c.now, GroupConfig{Service: frame.Service{Type: groupType, Instance: 1}, Policy: Lag}); err != nil {
		t.Fatal(err)
	}
	for i := range peerList {
		c.peerList[i].listen(1, groupType, uint32(i+2), uint32(i+2))
		c.tell(i, frame.GroupJoin, 100, 65)
	}
	c.live()
	c.forget()
	c.eventList()
	for i := range peerList {
		if lost&(1<<i) == 0 {
			continue
		}
		l := c.node(i).slots[0]
		for !l.Congested(frame.System) {
			b := c.message(1200, netdev.Control)
			f := frame.PayloadFields{Common: frame.Common{Prev: c.addr}, Type: frame.DirectMsg, OrigNode: c.addr, DestNode: l.n.addr, DestPort: 7}
			f.Put(b.Bytes()[frame.EthernetLen:], 1200-f.Len())
			if err := c.transmit(c.now, l, b, frame.System); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range peerList {
		c.Engine.after(c.now, c.node(i).slots[0])
	}
	c.forget()
	members := len(c.g.members)
	do(c)
	if !c.g.closed && len(c.g.members) != members {
		t.Errorf("%d of %d members are left within the turn", len(c.g.members), members)
	}
	c.HandleTimeout(c.now)
	gone := 0
	for _, ev := range c.eventList() {
		if strings.HasPrefix(ev, "peer lost") {
			gone++
		}
	}
	for i := range peerList {
		if up := c.node(i).up(); up != (lost&(1<<i) == 0) {
			t.Errorf("peer %d of %04b lost: up %v", i, lost, up)
		}
		if lost&(1<<i) != 0 {
			gone--
		}
	}
	if gone != 0 {
		t.Errorf("%04b lost: %+d events of that too many", lost, gone)
	}
	sent = make([]string, peerList)
	for _, s := range c.drain() {
		for i := range peerList {
			if rest, ok := strings.CutPrefix(s, fmt.Sprintf("0>%d ", i+1)); ok && (strings.Contains(rest, "group") || strings.Contains(rest, "name")) {
				sent[i] += rest + "\n"
			}
		}
	}
	return sent
}
