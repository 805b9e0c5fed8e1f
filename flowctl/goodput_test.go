// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A modelWire carries frames one way: at a rate, with a delay, in order, and loses some.
type modelWire struct {
	busy   time.Duration // until then it sends what it has
	frames Queue[arrival]
	loss   float64
	chance *rand.Rand
}

type arrival struct {
	at time.Duration
	b  *netdev.Buffer
}

const (
	modelDelay  = 50 * time.Microsecond
	modelPacket = 1400 // bytes
)

// put sends a frame at 1 Gbit/s, with preamble, FCS and gap; a lost one takes its time.
func (w *modelWire) put(now time.Duration, b *netdev.Buffer) {
	w.busy = max(w.busy, now) + time.Duration(b.Len()+24)*8
	if w.chance.Float64() < w.loss {
		b.Release()
		return
	}
	w.frames.Push(arrival{w.busy + modelDelay, b})
}

// A model is two links over a wire, one sending as fast as it may.
type model struct {
	t     testing.TB
	now   time.Duration
	ends  [2]*Link
	wires [2]modelWire // from each end
	arena *netdev.Arena
	sent  int
	got   int
}

func newModel(t testing.TB, seed uint64, loss float64, change func(*Config)) *model {
	m := &model{t: t, arena: netdev.NewArena(netdev.ArenaConfig{Small: 20000})}
	caps := allCaps | frame.CapGapAckBlock
	for i, a := range []frame.NodeAddr{self, peer} {
		c := Config{
			Local: &Local{Self: a, IfName: "eth0", Arena: m.arena, Alone: true, Capabilities: caps},
			Peer:  self ^ peer ^ a, MTU: 1500, Tolerance: DefaultTolerance, Priority: 10,
			MinWindow: DefaultWindow, MaxWindow: DefaultWindow, Session: 100, Broadcast: NewBroadcastReceiver(a),
		}
		change(&c)
		m.ends[i] = NewLink(0, c, caps)
		m.wires[i] = modelWire{chance: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	for m.ends[0].State() != Established || m.ends[1].State() != Established {
		m.step()
	}
	for i := range m.wires {
		m.wires[i].loss = loss
	}
	return m
}

// step goes on to the next arrival or deadline.
func (m *model) step() {
	next := min(m.ends[0].Deadline(), m.ends[1].Deadline())
	for i := range m.wires {
		if w := &m.wires[i]; w.frames.Len() > 0 {
			next = min(next, w.frames.At(0).at)
		}
	}
	m.now = max(m.now, next)
	for i := range m.wires {
		for w := &m.wires[i]; w.frames.Len() > 0 && w.frames.At(0).at <= m.now; {
			b := w.frames.Pop().b
			m.receive(m.ends[1-i], b)
			b.Release()
		}
	}
	for i, l := range m.ends {
		l.HandleTimeout(m.now)
		if l.TakeEvents()&WentDown != 0 {
			m.t.Fatalf("%v: end %d goes down: %v", m.now, i, l.Cause())
		}
		for b := l.NextFrame(); b != nil; b = l.NextFrame() {
			m.wires[i].put(m.now, b)
		}
	}
}

func (m *model) receive(l *Link, b *netdev.Buffer) {
	p, err := frame.Parse(b.Bytes()[frame.EthernetLen:])
	if err != nil {
		m.t.Fatal(err)
	}
	if p.User() == frame.UserLink {
		if s := parseLink(m.t, p.Bytes()); l.Accept(s) {
			l.HandleLink(m.now, s)
		}
		if l.TakeEvents()&WantUp != 0 {
			l.Up(m.now)
		}
		return
	}
	if l.HandlePacket(m.now, p, b) == Deliver {
		m.deliver(p)
		for q, ok := l.Next(m.now); ok; q, ok = l.Next(m.now) {
			m.deliver(q.Message)
			q.Release()
		}
	}
}

// deliver checks that packets come once, whole and in order.
func (m *model) deliver(p frame.Message) {
	d := p.Data()
	if n := int(d[0]) | int(d[1])<<8 | int(d[2])<<16; n != m.got&0xffffff || len(p.Bytes()) != modelPacket {
		m.t.Fatalf("got packet %d of %d bytes, want %d", n, len(p.Bytes()), m.got)
	}
	m.got++
}

// carry sends n packets and returns how long it takes until the last is delivered.
func (m *model) carry(n int) time.Duration {
	began := m.now
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Type: frame.DirectMsg,
		OrigPort: 1, DestPort: 2, OrigNode: self, DestNode: peer,
	}
	for m.got < n {
		for m.sent < n && !m.ends[0].Congested(frame.Low) {
			b := m.arena.Get(frame.EthernetLen+modelPacket, netdev.Data)
			if b == nil {
				break
			}
			msg := b.Extend(frame.EthernetLen + modelPacket)[frame.EthernetLen:]
			f.Put(msg, modelPacket-frame.BasicLen)
			d := msg[frame.BasicLen:]
			d[0], d[1], d[2] = byte(m.sent), byte(m.sent>>8), byte(m.sent>>16)
			if err := m.ends[0].Send(m.now, b, frame.Low); err != nil {
				m.t.Fatal(err)
			}
			m.sent++
		}
		m.step()
	}
	return m.now - began
}

// Goodput beside no loss: 10^5 packets of 1400 bytes over 1 Gbit/s with a round trip of
// 100 µs, loss both ways. The figures with a bound are targets.
//
// Proves: link.goodput
func TestGoodputUnderLoss(t *testing.T) {
	n := 100_000
	if testing.Short() || raceEnabled {
		n = 10_000
	}
	adaptive := func(c *Config) { c.MaxWindow = MaxWindow }
	for _, c := range []struct {
		name   string
		change func(*Config)
		least  map[float64]float64 // by loss
	}{
		{"static window, gap-ack", func(*Config) {}, map[float64]float64{0.01: 0.8, 0.05: 0.4}},
		{"static window", func(c *Config) { c.Capabilities = allCaps }, map[float64]float64{0.01: 0.6, 0.05: 0}},
		{"adaptive window, gap-ack", adaptive, map[float64]float64{0.01: 0.8, 0.05: 0.4}},
		{"static window, as a kernel", func(c *Config) { c.AsKernel = true }, map[float64]float64{0.01: 0, 0.05: 0}},
	} {
		whole := newModel(t, 1, 0, c.change)
		took := whole.carry(n)
		rate := float64(n) * modelPacket * 8 / float64(took)
		t.Logf("%s: no loss: %.3f Gbit/s, %d retransmitted, %d probes", c.name, rate, whole.ends[0].Retransmits, whole.ends[0].StallProbes)
		for _, loss := range []float64{0.001, 0.01, 0.05, 0.1} {
			m := newModel(t, 1, loss, c.change)
			slow := m.carry(n)
			got := float64(took) / float64(slow)
			s, r := m.ends[0], m.ends[1]
			t.Logf("%s: loss %.1f %%: %.3f; %.2f %% retransmitted, %d duplicates, %d probes, %d reports repeated of %d; round trip %v and %v, window %d", c.name, 100*loss, got,
				100*float64(s.Retransmits)/float64(s.SentPackets), r.Duplicates, s.StallProbes, r.RepeatedReports, r.SentNacks, s.RTT(), r.RTT(), s.Window())
			if want := c.least[loss]; got < want {
				t.Errorf("%s: loss %v: got %.3f of the goodput without, want at least %v", c.name, loss, got, want)
			}
			if r.Duplicates > uint64(n/100) {
				t.Errorf("%s: loss %v: %d of %d packets came twice", c.name, loss, r.Duplicates, n)
			}
		}
	}
}
