// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"encoding/binary"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// sink keeps the compiler from dropping what is only measured.
var sink uint32

// readers parse a message as each kind and read all of it, items and inner
// messages included, in the order of kinds.
var readers = []func(m frame.Message) bool{
	func(m frame.Message) bool {
		p, err := frame.ParsePayload(m)
		if err != nil {
			return false
		}
		r, _ := p.Range()
		f := p.Fields()
		sink += p.From().Port + r.Upper + f.Lower + uint32(len(p.Data()))
		return true
	},
	func(m frame.Message) bool {
		l, err := frame.ParseLink(m)
		if err != nil {
			return false
		}
		s, ok := l.State()
		f := s.Fields()
		sink += uint32(f.NextSent) + uint32(len(s.Data()))
		if g, _, err := s.GapAcks(ok && s.GuessRecord()); err == nil {
			for x := range g.Unicast().All() {
				sink += uint32(x.Ack)
			}
			sink += uint32(g.Bcast().Len())
		}
		return ok
	},
	func(m frame.Message) bool {
		l, err := frame.ParseLink(m)
		if err != nil {
			return false
		}
		r, ok := l.Reset()
		f := r.Fields()
		d, _ := r.DestSession()
		sink += uint32(f.MaxPacket) + uint32(d)
		return ok
	},
	func(m frame.Message) bool {
		d, err := frame.ParseDiscovery(m)
		if err != nil {
			return false
		}
		f := d.Fields()
		sink += uint32(f.Identity.Hash()) + uint32(f.MAC[5])
		return true
	},
	func(m frame.Message) bool {
		n, err := frame.ParseNames(m)
		if err != nil {
			return false
		}
		f := n.Fields()
		for it := range n.Items() {
			sink += it.Key
		}
		sink += uint32(f.UpdateSeq)
		return true
	},
	func(m frame.Message) bool {
		i, err := frame.ParseBcastInit(m)
		if err != nil {
			return false
		}
		f := i.Fields()
		sink += uint32(f.LastBcast)
		return true
	},
	func(m frame.Message) bool {
		c, err := frame.ParseConn(m)
		if err != nil {
			return false
		}
		f := c.Fields()
		sink += uint32(f.Window)
		return true
	},
	func(m frame.Message) bool {
		x, err := frame.ParseFragment(m)
		if err != nil {
			return false
		}
		f := x.Fields()
		sink += uint32(f.Number) + uint32(len(x.Data()))
		return true
	},
	func(m frame.Message) bool {
		u, err := frame.ParseBundle(m)
		if err != nil {
			return false
		}
		f := u.Fields()
		for m, err := range u.Messages() {
			if err != nil {
				return false
			}
			if p, err := frame.ParsePayload(m); err == nil {
				sink += p.DestPort()
			}
		}
		sink += uint32(f.Count)
		return true
	},
	func(m frame.Message) bool {
		g, err := frame.ParseGroup(m)
		if err != nil {
			return false
		}
		f := g.Fields()
		sink += uint32(f.Window) + g.From().Port
		return true
	},
	func(m frame.Message) bool {
		x, err := frame.ParseTunnel(m)
		if err != nil {
			return false
		}
		f := x.Fields()
		in, err := x.Inner()
		sink += uint32(f.Count) + uint32(in.Seq())
		return err == nil
	},
	func(m frame.Message) bool {
		k, err := frame.ParseKey(m)
		if err != nil {
			return false
		}
		f := k.Fields()
		sink += uint32(f.Generation) + uint32(len(k.Key()))
		return true
	},
	func(m frame.Message) bool {
		n, err := frame.ParseBcastNack(m)
		if err != nil {
			return false
		}
		f := n.Fields()
		sink += uint32(f.To)
		return true
	},
	func(m frame.Message) bool {
		d, err := samples.ParseUDPDiscovery(m)
		if err != nil {
			return false
		}
		f := d.Fields()
		sink += uint32(f.UDP.Port()) + uint32(d.Media().Type)
		return true
	},
}

// Proves: wire.cost
func TestParseDoesNotAllocate(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		frm := append(make([]byte, frame.EthernetLen), b...)
		frame.PutEthernet(frm, frame.BroadcastMAC, frame.MAC{})
		ok := true
		n := testing.AllocsPerRun(100, func() {
			_, payload, err := frame.ParseEthernet(frm)
			m, err2 := frame.Parse(payload)
			ok = ok && err == nil && err2 == nil && readers[i](m)
		})
		if n != 0 || !ok {
			t.Errorf("%s: got %v allocations, read %v, want 0, true", samples.Kinds[i].Name, n, ok)
		}
	}
}

// TestRefusalDoesNotAllocate cuts each kind short and gives it to the wrong
// parsers.
//
// Proves: wire.cost
func TestRefusalDoesNotAllocate(t *testing.T) {
	for i, b := range samples.OfEachKind(t) {
		n := testing.AllocsPerRun(100, func() {
			frame.Parse(b[:len(b)-1])
			m, _ := frame.Parse(b)
			readers[(i+4)%len(readers)](m)
		})
		if n != 0 {
			t.Errorf("%s: got %v allocations, want 0", samples.Kinds[i].Name, n)
		}
	}
}

// Proves: wire.cost
func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 2048)
	data := make([]byte, 60)
	item := frame.NameItem{}
	var gapBlocks [3]frame.GapBlock
	var members [3]frame.NodeAddr
	for name, f := range map[string]func(){
		"payload":    func() { f := frame.PayloadFields{Type: frame.NamedMsg}; f.Append(buf, data) },
		"state":      func() { f := frame.StateFields{}; f.Append(buf, data) },
		"reset":      func() { f := frame.ResetFields{}; f.Append(buf) },
		"discovery":  func() { f := frame.DiscoveryFields{Capabilities: 0xfff}; f.Append(buf) },
		"names":      func() { f := frame.NamesFields{}; f.Append(buf, item, item) },
		"item":       func() { item.Append(buf) },
		"bcast init": func() { f := frame.BcastInitFields{}; f.Append(buf) },
		"conn":       func() { f := frame.ConnFields{}; f.Append(buf) },
		"fragment":   func() { f := frame.FragmentFields{}; f.Append(buf, data) },
		"bundle":     func() { f := frame.BundleFields{}; f.Append(buf, data) },
		"group":      func() { f := frame.GroupFields{}; f.Append(buf) },
		"tunnel":     func() { f := frame.TunnelFields{}; f.Append(buf, data) },
		"key":        func() { f := frame.KeyFields{}; f.Append(buf, data[:20]) },
		"bcast nack": func() { f := frame.BcastNackFields{}; f.Append(buf) },
		"encrypted":  func() { f := frame.EncryptedFields{}; f.Append(buf, data) },
		"gap-ack":    func() { f := frame.GapAckFields{Unicast: gapBlocks[:]}; f.Append(buf) },
		"domain":     func() { f := frame.DomainFields{Members: members[:]}; f.Append(buf) },
		"event":      func() { f := frame.TopologyEventFields{}; f.Append(buf) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, n)
		}
	}
}

// Proves: wire.cost
func BenchmarkParse(b *testing.B) {
	for i, s := range samples.OfEachKind(b) {
		b.Run(samples.Kinds[i].Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := frame.Parse(s)
				if err != nil || !readers[i](m) {
					b.Fatal("not read")
				}
			}
		})
	}
}

// BenchmarkCalibrate is what to measure the others by, on any machine: 64 words
// of memory added up.
//
// Proves: wire.cost
func BenchmarkCalibrate(b *testing.B) {
	x := make([]byte, 256)
	for b.Loop() {
		for i := 0; i < len(x); i += 4 {
			sink += binary.BigEndian.Uint32(x[i:])
		}
	}
}

func BenchmarkParseRecords(b *testing.B) {
	gap, domain := state(b, samples.Unhex(b, "000c0200 001b0001 00230000")), state(b, samples.Unhex(b, "00040000 0014 0001 0000 0001 0000000000000001 01001002"))
	sealed := samples.Message(b, "24", 30)
	event := (&frame.TopologyEventFields{Type: frame.Published, Subscription: frame.SubscriptionFields{Filter: frame.FilterPorts}}).Append(nil)
	for name, read := range map[string]func() error{
		"gap-ack":   func() error { g, _, err := gap.GapAcks(true); sink += uint32(g.Unicast().At(1).Ack); return err },
		"domain":    func() error { d, _, err := domain.Domain(true); sink += uint32(d.Member(0)); return err },
		"encrypted": func() error { e, err := frame.ParseEncrypted(sealed); sink += uint32(e.Fields().Seq); return err },
		"event": func() error {
			e, err := frame.ParseTopologyEvent(event, frame.LittleEndian)
			sink += e.Fields().Port
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendPayload(b *testing.B) {
	buf, data := make([]byte, 0, 2048), make([]byte, 1400)
	f := frame.PayloadFields{Type: frame.NamedMsg}
	b.ReportAllocs()
	for b.Loop() {
		f.Append(buf, data)
	}
}
