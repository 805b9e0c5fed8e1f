// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// BenchmarkHostile is what a frame costs that goes no further, by what is wrong with it.
//
// Proves: hostile.cost
func BenchmarkHostile(b *testing.B) {
	s := newSealedBed(b)
	forged := make([]byte, frame.EthernetLen+200)
	frame.PutEthernet(forged, s.y.macs[0], s.x.macs[0])
	r := rand.New(rand.NewPCG(1, 2))
	for i := frame.EthernetLen; i < len(forged); i++ {
		forged[i] = byte(r.Uint32())
	}
	copy(forged[frame.EthernetLen:], []byte{0xe1, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0x10, 1})
	unknown := append([]byte(nil), forged...)
	unknown[frame.EthernetLen+12] = 9
	p := newScriptedPeer(b).up()
	disc := frame.DiscoveryFields{Type: frame.Request, Capabilities: popCaps, NetID: frame.DefaultNetID}
	for i := range 2 * maxStrangers {
		p.disc(frame.Request, stranger(i))
		p.sent = nil
	}
	stranger(3 * maxStrangers)(&disc)
	state := frame.StateFields{Common: frame.Common{Seq: p.state, Ack: p.ack, Prev: popAddr}, LinkInfo: p.info(), Probe: true}
	for _, c := range []struct {
		name  string
		n     *Engine
		frame []byte
	}{
		{"plain to a node with keys", s.y.Engine, ether(s.y.macs[0], s.x.macs[0], state.Append(nil, nil))},
		{"sealed with another key, of a peer", s.y.Engine, forged},
		{"sealed with another key, of nobody", s.y.Engine, unknown},
		{"no TIPC", p.Engine, ether(ownMAC, popMAC, make([]byte, 60))},
		{"request of one more stranger", p.Engine, ether(frame.BroadcastMAC, disc.MAC, disc.Append(nil))},
		{"STATE of another station", p.Engine, ether(ownMAC, frame.MAC{2, 9}, state.Append(nil, nil))},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := newArena(b, netdev.ArenaConfig{Small: 64})
			f := a.Get(len(c.frame), netdev.Control)
			f.Resize(len(c.frame))
			b.ReportAllocs()
			before := c.n.Counters()
			for b.Loop() {
				copy(f.Bytes(), c.frame)
				c.n.HandleFrame(s.now, 0, f)
			}
			after := c.n.Counters()
			dropped := uint64(0)
			for i := range after.Drops {
				dropped += after.Drops[i] - before.Drops[i]
			}
			if got := after.FramesIn - before.FramesIn; got != dropped {
				b.Errorf("of %d frames %d were dropped", got, dropped)
			}
			for _, ok := c.n.NextEvent(); ok; _, ok = c.n.NextEvent() {
			}
		})
	}
}
