// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

const (
	modelDelay  = 50 * time.Microsecond
	modelPacket = 1400 // bytes
)

// newSlowBed is a bed whose ends are up and whose wires take time, and lose some.
func newSlowBed(t testing.TB, seed uint64, loss float64, change func(*Config)) *bed {
	d := newBed(t, netdev.ArenaConfig{Small: 20000}, 0, func(c *Config) {
		c.Alone, c.Capabilities = true, allCaps|frame.CapGapAckBlock
		change(c)
	})
	for i := range d.wires {
		d.wires[i] = slowWire(rand.New(rand.NewPCG(seed, uint64(i))))
	}
	for d.ends[0].State() != Established || d.ends[1].State() != Established {
		d.step()
	}
	for i := range d.wires {
		d.wires[i].loss = loss
	}
	return d
}

func slowWire(chance *rand.Rand) wire { return wire{slow: true, delay: modelDelay, chance: chance} }

// numbered is packet n, of a header of so many bytes, or nil where there is no chunk.
func numbered(a *netdev.Arena, n, header int, f *frame.PayloadFields) *netdev.Buffer {
	b := a.Get(frame.EthernetLen+modelPacket, netdev.Data)
	if b == nil {
		return nil
	}
	msg := b.Extend(frame.EthernetLen + modelPacket)[frame.EthernetLen:]
	f.Put(msg, modelPacket-header)
	d := msg[header:]
	d[0], d[1], d[2] = byte(n), byte(n>>8), byte(n>>16)
	return b
}

// deliver checks that packet n is the one that numbered made, and returns the next number.
func deliver(t testing.TB, n int, p frame.Message) int {
	t.Helper()
	d := p.Data()
	if got := int(d[0]) | int(d[1])<<8 | int(d[2])<<16; got != n&0xffffff || len(p.Bytes()) != modelPacket {
		t.Fatalf("got packet %d of %d bytes, want %d", got, len(p.Bytes()), n)
	}
	return n + 1
}

// carry sends n packets and returns how long it takes until the last is delivered.
func (d *bed) carry(n int) time.Duration {
	began := d.now
	f := frame.PayloadFields{
		Common: frame.Common{Prev: self}, Type: frame.DirectMsg,
		OrigPort: 1, DestPort: 2, OrigNode: self, DestNode: peer,
	}
	for d.got < n {
		for d.sent < n && !d.ends[0].Congested(frame.Low) {
			b := numbered(d.arena, d.sent, frame.BasicLen, &f)
			if b == nil {
				break
			}
			if err := d.ends[0].Send(d.now, b, frame.Low); err != nil {
				d.t.Fatal(err)
			}
			d.sent++
		}
		d.step()
	}
	return d.now - began
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
		whole := newSlowBed(t, 1, 0, c.change)
		took := whole.carry(n)
		rate := float64(n) * modelPacket * 8 / float64(took)
		t.Logf("%s: no loss: %.3f Gbit/s, %d retransmitted, %d probes", c.name, rate, whole.ends[0].Retransmits, whole.ends[0].StallProbes)
		for _, loss := range []float64{0.001, 0.01, 0.05, 0.1} {
			m := newSlowBed(t, 1, loss, c.change)
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
