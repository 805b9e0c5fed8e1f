// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// seed gives a fuzzer the messages of the captures that parse takes, a few of
// each length, and some of our own making.
func seed(f *testing.F, parse func(frame.Message) error) {
	add := func(b []byte) {
		if m, err := frame.Parse(b); err == nil && parse(m) == nil {
			f.Add(b)
		}
	}
	for _, b := range samples.Few(f) {
		add(b)
	}
	r := maker{rand.New(rand.NewPCG(5, 6))}
	for range 5 {
		fields, data := r.fields()
		for i := range fields {
			add(build(fields[i], nil, data[i]))
		}
	}
}

// fuzzKind holds every message that kind i's parser takes to the law of its kind.
func fuzzKind(f *testing.F, i int) {
	k := samples.Kinds[i]
	takes := func(m frame.Message) error { _, err := k.Rebuild(m, nil); return err }
	seed(f, takes)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if _, err := k.Rebuild(m, nil); err != nil {
			return
		}
		k.Check(t, m)
	})
}

// Proves: wire.hostile
func FuzzPayload(f *testing.F) { fuzzKind(f, 0) }

// Proves: wire.hostile
func FuzzState(f *testing.F) { fuzzKind(f, 1) }

// Proves: wire.hostile
func FuzzReset(f *testing.F) { fuzzKind(f, 2) }

// Proves: wire.hostile
func FuzzDiscovery(f *testing.F) { fuzzKind(f, 3) }

// Proves: wire.hostile
func FuzzNames(f *testing.F) { fuzzKind(f, 4) }

// Proves: wire.hostile
func FuzzBcastInit(f *testing.F) { fuzzKind(f, 5) }

// Proves: wire.hostile
func FuzzConn(f *testing.F) { fuzzKind(f, 6) }

// Proves: wire.hostile
func FuzzFragment(f *testing.F) { fuzzKind(f, 7) }

// Proves: wire.hostile
func FuzzGroup(f *testing.F) { fuzzKind(f, 9) }

// Proves: wire.hostile
func FuzzKey(f *testing.F) { fuzzKind(f, 11) }

// Proves: wire.hostile
func FuzzBcastNack(f *testing.F) { fuzzKind(f, 12) }

// Proves: wire.hostile
func FuzzMedia(f *testing.F) { fuzzKind(f, 13) }

// Proves: wire.hostile
func FuzzTunnel(f *testing.F) {
	seed(f, func(m frame.Message) error { _, err := frame.ParseTunnel(m); return err })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if x, err := frame.ParseTunnel(m); err == nil {
			samples.Kinds[10].Check(t, m)
			point, err := x.SyncPoint()
			if in, err2 := x.Inner(); err2 == nil && (err != nil || in.Seq()+frame.Seq(x.Count()-1) != point) {
				t.Errorf("got %v, %v, want %v", point, err, in.Seq()+frame.Seq(x.Count()-1))
			}
		}
	})
}

// Proves: wire.hostile
func FuzzBundle(f *testing.F) {
	seed(f, func(m frame.Message) error { _, err := frame.ParseBundle(m); return err })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if u, err := frame.ParseBundle(m); err == nil {
			samples.Kinds[8].Check(t, m)
			checkInside(t, u)
		}
	})
}

// FuzzParse calls all that can be called on any message: nothing may panic, and
// no two kinds may take the same message.
//
// Proves: wire.hostile
func FuzzParse(f *testing.F) {
	seed(f, func(frame.Message) error { return nil })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if len(m.Bytes()) > len(b) || m.HeaderLen()+len(m.Data()) != len(m.Bytes()) || frame.ClaimedSize(b) != len(m.Bytes()) {
			t.Errorf("got %d bytes, header %d, data %d, of %d", len(m.Bytes()), m.HeaderLen(), len(m.Data()), len(b))
		}
		m.User()
		m.NonSeq()
		m.RawType()
		m.BcastAck()
		m.Ack()
		m.Seq()
		m.Prev()
		m.DestNode()
		m.NetID()
		m.Selector()
		m.Importance()
		if p, err := frame.ParsePayload(m); err == nil {
			p.From()
			p.Range()
			p.Group()
			p.GroupSeq()
		}
		taken := 0
		for _, k := range samples.Kinds {
			if _, err := k.Rebuild(m, nil); err == nil {
				taken++
			}
		}
		if err := m.Check(); (err == nil) != (taken == 1) {
			t.Errorf("%x: got %v, but %d kinds take it", m.Bytes(), err, taken)
		}
		if taken > 1 {
			t.Errorf("%x: got %d kinds, want at most 1", m.Bytes(), taken)
		}
	})
}

// Proves: wire.hostile
func FuzzEthernet(f *testing.F) {
	for _, x := range samples.Read(f, "01")[:12] {
		f.Add(x.Data)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, err := frame.ParseEthernet(b)
		if err != nil {
			return
		}
		got := make([]byte, frame.EthernetLen)
		frame.PutEthernet(got, h.Dst(), h.Src())
		if got = append(got, payload...); string(got) != string(b) {
			t.Errorf("got %x, want %x", got, b)
		}
	})
}

// FuzzParseAddr: what parses prints a text that parses as the same.
//
// Proves: wire.hostile, wire.addresses
func FuzzParseAddr(f *testing.F) {
	for _, s := range addrTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := frame.ParseAddr(s)
		if err != nil {
			return
		}
		if again, err := frame.ParseAddr(a.String()); err != nil || again != a {
			t.Errorf("%q: got %v, %v, want %v", a, again, err, a)
		}
	})
}

// FuzzAddrString: every address prints a text that parses as the same.
//
// Proves: wire.hostile
func FuzzAddrString(f *testing.F) {
	f.Add(uint32(1), uint32(2), uint32(3))
	f.Add(uint32(0), uint32(0), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, x, y, z uint32) {
		checkAddr(t, frame.Service{Type: x, Instance: y, Node: frame.NodeAddr(z)})
		checkAddr(t, frame.Range{Type: x, Lower: min(y, z), Upper: max(y, z)})
		checkAddr(t, frame.SocketAddr{Port: x, Node: frame.NodeAddr(y)})
	})
}

// Proves: wire.hostile
func FuzzIdentity(f *testing.F) {
	f.Add("node-alpha")
	f.Add("525400aa000100000000000000000000")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := frame.ParseIdentity(s)
		if err != nil {
			return
		}
		if (id.Hash() == 0) != (id == frame.Identity{}) {
			t.Errorf("%q: got hash %v", s, id.Hash())
		}
		if len(s) <= 16 && id.String() != s {
			t.Errorf("got %q, want %q", id, s)
		}
		if got := id.LinkText(7); got == "" || len(got) > 16 {
			t.Errorf("%q: got link text %q, want 1 to 16 characters", s, got)
		}
	})
}
