// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// Whatever members and others say, in whatever order, while the program sends, reads,
// leaves and joins: nothing panics, all that is counted stays within its limits, and
// everything is given back.
//
// Proves: group.hostile
func TestGroupUnderRandomMessages(t *testing.T) {
	seeds, steps := uint64(9), 3000
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 77))
		set := func(k *GroupConfig) {
			k.Policy, k.Limit, k.Loopback = SlowPolicy(seed%3), 5, seed%2 == 0
		}
		c := newGroupPeers(t, 3, set)
		bind := frame.Seq(2) // updates of names, by all peers alike
		buf := make([]byte, 3000)
		for step := range steps {
			i := rnd.IntN(3)
			port := 5 + uint32(rnd.IntN(4))
			near := c.g.next + frame.Seq(rnd.IntN(5)) - 2 // numbers that may mean something
			if m := c.g.find(frame.SocketAddr{Port: port, Node: c.peerList[i].addr}); m != nil && rnd.IntN(2) == 0 {
				near = m.order.Next() + frame.Seq(rnd.IntN(5)) - 1
			}
			if rnd.IntN(20) == 0 {
				near = frame.Seq(rnd.Uint32())
			}
			switch k := rnd.IntN(16); {
			case k < 5:
				c.tellAs(i, func(f *frame.GroupFields) {
					f.Type, f.OrigPort, f.Number = frame.GroupType(rnd.IntN(6)), port, uint16(near)
					if f.Window = uint16(rnd.IntN(100)); rnd.IntN(30) == 0 {
						f.Window = uint16(rnd.Uint32())
					}
					if f.Type == frame.GroupLeave && rnd.IntN(4) > 0 {
						f.Type = frame.GroupAck
					}
				})
			case k < 10:
				typ := frame.GroupBcastMsg + frame.PayloadType(rnd.IntN(3))
				c.on(i, 0).packet(c.data(i, typ, near, 1+rnd.IntN(1200), func(f *frame.PayloadFields) {
					f.OrigPort, f.Lower = port, uint32(rnd.IntN(3))
					f.Upper = frame.GroupWord(near, rnd.IntN(3) == 0)
				}))
			case k == 10:
				for j := range c.peerList {
					withdrawn := rnd.IntN(2) == 0
					c.on(j, 0).packet(c.peerList[j].names(func(f *frame.NamesFields) { f.UpdateSeq, f.Withdrawal = bind, withdrawn },
						nameItem(groupType, port-3, port-3, port)))
				}
				bind++
			case k == 11:
				c.g.Read(c.now, buf)
			case k == 12:
				c.g.Send(c.now, buf[:1+rnd.IntN(len(buf))])
			case k == 13:
				c.g.SendAnycast(c.now, uint32(rnd.IntN(5)), buf[:10])
				c.g.SendMulticast(c.now, uint32(rnd.IntN(5)), buf[:10])
			case k == 14:
				c.now += time.Duration(rnd.IntN(50)) * time.Millisecond
				c.HandleTimeout(c.now)
				c.allAck()
			case rnd.IntN(40) == 0:
				k := c.g.GroupConfig
				c.g.Leave(c.now)
				var err error
				if c.g, err = c.Join(c.now, k); err != nil {
					t.Fatal(err)
				}
			}
			if step%10 == 0 {
				c.allAck()
			}
			c.sent = nil
			for _, m := range c.g.members {
				f := &m.flow
				if f.Unread() > f.Advertised() || f.Unread() < 0 || f.Window() < 0 || f.Window() > 65535 ||
					f.Advertised() > flowctl.GroupBusy+flowctl.GroupIdle || m.lag.Len() > 5 || m.order.Waiting() > 1024 {
					t.Fatalf("seed %d, step %d: %+v", seed, step, m)
				}
			}
			if a := c.g.acks.Missing(); a < 0 || a > len(c.g.members) {
				t.Fatalf("seed %d, step %d: %d acknowledgements missing of %d", seed, step, a, len(c.g.members))
			}
		}
		for i := range c.peerList {
			if !c.node(i).up() {
				t.Errorf("seed %d: contact to peer %d was lost", seed, i)
			}
		}
		c.g.Leave(c.now)
		c.allAck()
		if len(c.groups.all) > 0 || c.groups.news.Len()+c.groups.local.Len() > 0 {
			t.Errorf("seed %d: something of groups is left", seed)
		}
		c.done("")
	}
}
