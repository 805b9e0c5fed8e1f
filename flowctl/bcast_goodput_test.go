// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A castNetwork is one node that broadcasts to some others as fast as it may. Each has one
// wire out, on which its frames wait for each other; a frame is lost for each receiver on
// its own.
type castNetwork struct {
	t     testing.TB
	now   time.Duration
	s     *BroadcastSender
	peers []*castPeer
	wire  wire // of the sender
	loss  float64
	dice  *rand.Rand
	arena *netdev.Arena
	sent  int
}

// A castPeer is a receiver, and the link between it and the sender.
type castPeer struct {
	addr frame.NodeAddr
	own  *Link // the sender's end of the link
	link *Link // its own end
	bc   *BroadcastReceiver
	m    *Member
	wire wire
	got  int
}

func newCastNetwork(t testing.TB, seed uint64, n int, kernel bool) *castNetwork {
	c := &castNetwork{t: t, arena: netdev.NewArena(netdev.ArenaConfig{Small: 8000}), dice: rand.New(rand.NewPCG(seed, 9))}
	caps := allCaps | frame.CapGapAckBlock
	c.wire = slowWire(c.dice)
	local := func(a frame.NodeAddr) *Local {
		return &Local{Self: a, IfName: "eth0", Arena: c.arena, Alone: true, Capabilities: caps, AsKernel: kernel}
	}
	c.s = NewBroadcastSender(BroadcastConfig{Local: local(self), NetID: castNet})
	ours := local(self)
	ours.Broadcast = c.s
	for i := range n {
		p := &castPeer{addr: peer + frame.NodeAddr(i)}
		p.bc = NewBroadcastReceiver(p.addr)
		p.wire = slowWire(c.dice)
		link := func(l *Local, to frame.NodeAddr, bc *BroadcastReceiver) *Link {
			return NewLink(0, Config{
				Local: l, Peer: to, MTU: 1500, Tolerance: DefaultTolerance, Priority: 10,
				MinWindow: DefaultWindow, MaxWindow: DefaultWindow, Session: 100, Broadcast: bc,
			}, caps)
		}
		p.own = link(ours, p.addr, NewBroadcastReceiver(self))
		p.link = link(local(p.addr), self, p.bc)
		c.peers = append(c.peers, p)
	}
	for _, p := range c.peers {
		for p.own.State() != Established || p.link.State() != Established {
			c.step()
		}
	}
	for _, p := range c.peers {
		p.m = c.s.Join()
		p.bc.Open(c.s.Last())
		p.m.Confirm()
		p.own.bcast.SetMember(p.m)
	}
	return c
}

// step goes on to the next arrival or deadline.
func (c *castNetwork) step() {
	next := min(c.s.Deadline(), c.wire.next())
	for _, p := range c.peers {
		next = min(next, p.own.Deadline(), p.link.Deadline(), p.wire.next())
	}
	c.now = max(c.now, next)
	for w := &c.wire; w.next() <= c.now; {
		b := w.frames.Pop().b
		m, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
		if err != nil {
			c.t.Fatal(err)
		}
		to, _ := m.DestNode()
		for _, p := range c.peers {
			if (m.NonSeq() || to == p.addr) && c.dice.Float64() >= c.loss {
				c.atPeer(p, m, b)
			}
		}
		b.Release()
	}
	for _, p := range c.peers {
		for w := &p.wire; w.next() <= c.now; {
			b := w.frames.Pop().b
			if c.dice.Float64() >= c.loss {
				c.atSender(p, parseLink(c.t, b.Bytes()[frame.EthernetLen:]))
			}
			b.Release()
		}
	}
	c.s.HandleTimeout(c.now)
	if c.s.TakeEvents()&Ask != 0 {
		for _, p := range c.peers {
			if p.m.Behind() {
				p.own.Probe(c.now)
			}
		}
	}
	for b := c.s.NextFrame(); b != nil; b = c.s.NextFrame() {
		c.wire.put(c.now, b)
	}
	for _, p := range c.peers {
		c.serve(p.own, &c.wire)
		c.serve(p.link, &p.wire)
	}
}

func (c *castNetwork) serve(l *Link, w *wire) {
	l.HandleTimeout(c.now)
	switch e := l.TakeEvents(); {
	case e&WantUp != 0:
		l.Up(c.now)
	case e&WentDown != 0:
		c.t.Fatalf("%v: a link goes down: %v", c.now, l.Cause())
	}
	for b := l.NextFrame(); b != nil; b = l.NextFrame() {
		w.put(c.now, b)
	}
}

// atPeer is what the receiving node does with a frame.
func (c *castNetwork) atPeer(p *castPeer, m frame.Message, b *netdev.Buffer) {
	if !m.NonSeq() {
		if l := parseLink(c.t, m.Bytes()); p.link.Accept(l) {
			due := l.IsState() && p.m != nil && p.bc.HandleState(l.LastBcast())
			s, _ := l.State()
			if p.link.HandleLink(c.now, l); due && !s.Probe() {
				p.link.Report(c.now)
			}
			p.link.WatchBroadcast(c.now)
		}
		return
	}
	v, report := p.bc.HandlePacket(m, b)
	if v == Deliver {
		p.got = deliver(c.t, p.got, m)
		for q, due, ok := p.bc.Next(); ok; q, due, ok = p.bc.Next() {
			report = report || due
			p.got = deliver(c.t, p.got, q.Message)
			q.Release()
		}
	}
	if report {
		p.link.Report(c.now)
	}
	if v == Deferred {
		p.link.WatchBroadcast(c.now)
	}
}

// atSender is what the sending node does with one.
func (c *castNetwork) atSender(p *castPeer, l frame.LinkMessage) {
	if !p.own.Accept(l) {
		return
	}
	if s, ok := l.State(); ok && p.m != nil {
		g, _, _ := s.GapAcks(true)
		if c.s.HandleReport(c.now, p.m, s.BcastAck(), s.BcastGap(), g.Bcast()) {
			c.t.Fatalf("%v: %v failed", c.now, p.addr)
		}
	}
	p.own.HandleLink(c.now, l)
}

// carry sends n packets and returns how long it takes until all have the last.
func (c *castNetwork) carry(n int) time.Duration {
	began := c.now
	f := frame.PayloadFields{Common: frame.Common{Prev: self}, Type: frame.McastMsg, OrigPort: 1, OrigNode: self}
	for {
		for c.sent < n && !c.s.Congested(frame.Low) {
			b := numbered(c.arena, c.sent, frame.McastLen, &f)
			if b == nil {
				break
			}
			if err := c.s.Send(c.now, b, frame.Low); err != nil {
				c.t.Fatal(err)
			}
			c.sent++
		}
		least := n
		for _, p := range c.peers {
			least = min(least, p.got)
		}
		if least == n {
			return c.now - began
		}
		if c.step(); c.now > began+time.Minute {
			c.t.Fatalf("%v: it stands still, with %d of %d packets at the last", c.now, least, n)
		}
	}
}

// Goodput to three members beside no loss: packets of 1400 bytes over 1 Gbit/s with a round
// trip of 100 µs, each frame lost for each receiver on its own, reports as well. The figures
// with a bound are targets.
//
// Proves: multicast.goodput
func TestBroadcastGoodputUnderLoss(t *testing.T) {
	n := 50_000
	if testing.Short() || raceEnabled {
		n = 10_000
	}
	for _, kernel := range []bool{false, true} {
		whole := newCastNetwork(t, 1, 3, kernel)
		took := whole.carry(n)
		t.Logf("as a kernel %v: no loss: %.3f Gbit/s to each of three, %d repeated, asked %d times, round trip %v", kernel,
			float64(n)*modelPacket*8/float64(took), whole.s.Retransmits, whole.s.StallProbes, whole.s.RTT())
		if whole.s.Retransmits+whole.s.StallProbes > 0 && !kernel {
			t.Errorf("no loss: got %d repeated, asked %d times", whole.s.Retransmits, whole.s.StallProbes)
		}
		for _, loss := range []float64{0.001, 0.01, 0.05} {
			if kernel && loss > 0.01 {
				continue
			}
			c := newCastNetwork(t, 1, 3, kernel)
			c.loss = loss
			m := n
			if kernel {
				m = n / 10
			}
			slow := c.carry(m)
			got := float64(took) * float64(m) / float64(n) / float64(slow)
			lost, twice, repeated := 1-(1-loss)*(1-loss)*(1-loss), uint64(0), uint64(0)
			for _, p := range c.peers {
				twice += p.bc.Duplicates
				repeated += p.link.RepeatedReports
			}
			t.Logf("as a kernel %v: loss %.1f %%: %.3f; %.2f %% repeated where %.2f %% were lost for some, asked %d times, reports %d, %d of them again, round trip %v",
				kernel, 100*loss, got, 100*float64(c.s.Retransmits)/float64(m), 100*lost, c.s.StallProbes, c.s.RecvNacks, repeated, c.s.RTT())
			if least := map[float64]float64{0.001: 0.95, 0.01: 0.8, 0.05: 0.5}[loss]; !kernel && got < least {
				t.Errorf("loss %v: got %.3f of the goodput without, want at least %v", loss, got, least)
			}
			if most := 1.25*lost*float64(m) + 10; !kernel && float64(c.s.Retransmits) > most {
				t.Errorf("loss %v: got %d repeated of %d, want at most %.0f", loss, c.s.Retransmits, m, most)
			}
		}
	}
}
