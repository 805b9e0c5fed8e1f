// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// seed gives a fuzzer the messages of the captures that parse takes, a few of
// each length, and some of our own making.
func seed(f *testing.F, parse func(frame.Message) error) {
	add := func(b []byte) {
		if m, err := frame.Parse(b); err == nil && parse(m) == nil {
			f.Add(b)
		}
	}
	seen := map[int]int{}
	for _, c := range captures {
		keys := newOpener(f)
		for _, x := range readCapture(f, c.number) {
			_, b, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				b = keys.open(e)
			}
			user := b[0] >> 1 & 0xf
			if seen[len(b)<<4|int(user)]++; seen[len(b)<<4|int(user)] <= 2 && len(b) < 700 {
				add(b)
			}
		}
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
	k := kinds[i]
	takes := func(m frame.Message) error { _, err := k.rebuild(m, nil); return err }
	seed(f, takes)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if _, err := k.rebuild(m, nil); err != nil {
			return
		}
		k.check(t, m)
	})
}

func FuzzPayload(f *testing.F)   { fuzzKind(f, 0) }
func FuzzState(f *testing.F)     { fuzzKind(f, 1) }
func FuzzReset(f *testing.F)     { fuzzKind(f, 2) }
func FuzzDiscovery(f *testing.F) { fuzzKind(f, 3) }
func FuzzNames(f *testing.F)     { fuzzKind(f, 4) }
func FuzzBcastInit(f *testing.F) { fuzzKind(f, 5) }
func FuzzConn(f *testing.F)      { fuzzKind(f, 6) }
func FuzzFragment(f *testing.F)  { fuzzKind(f, 7) }
func FuzzGroup(f *testing.F)     { fuzzKind(f, 9) }
func FuzzKey(f *testing.F)       { fuzzKind(f, 11) }
func FuzzBcastNack(f *testing.F) { fuzzKind(f, 12) }
func FuzzMedia(f *testing.F)     { fuzzKind(f, 13) }

func FuzzTunnel(f *testing.F) {
	seed(f, func(m frame.Message) error { _, err := frame.ParseTunnel(m); return err })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if x, err := frame.ParseTunnel(m); err == nil {
			kinds[10].check(t, m)
			point, err := x.SyncPoint()
			if in, err2 := x.Inner(); err2 == nil && (err != nil || in.Seq()+frame.Seq(x.Count()-1) != point) {
				t.Errorf("got %v, %v, want %v", point, err, in.Seq()+frame.Seq(x.Count()-1))
			}
		}
	})
}

func FuzzBundle(f *testing.F) {
	seed(f, func(m frame.Message) error { _, err := frame.ParseBundle(m); return err })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		if u, err := frame.ParseBundle(m); err == nil {
			kinds[8].check(t, m)
			checkInside(t, u)
		}
	})
}

// FuzzParse calls all that can be called on any message: nothing may panic, and
// no two kinds may take the same message.
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
		for _, k := range kinds {
			if _, err := k.rebuild(m, nil); err == nil {
				taken++
			}
		}
		if taken > 1 {
			t.Errorf("%v: got %d kinds, want at most 1", m, taken)
		}
	})
}

func FuzzEthernet(f *testing.F) {
	for _, x := range readCapture(f, "01")[:12] {
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

func FuzzDescribe(f *testing.F) {
	seed(f, func(frame.Message) error { return nil })
	f.Fuzz(func(t *testing.T, b []byte) {
		line, err := frame.Describe(b)
		if line == "" || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("got %q, want one line of printable characters", line)
		}
		m, perr := frame.Parse(b)
		if perr == frame.ErrEncrypted {
			if _, perr = frame.ParseEncrypted(b); perr == nil {
				perr = frame.ErrEncrypted
			}
		}
		if perr != nil {
			if err != perr {
				t.Errorf("got %v, want %v", err, perr)
			}
			return
		}
		if _, ok := kindOf(m); ok != (err == nil) {
			t.Errorf("%q: got %v, want an error: %v", line, err, !ok)
		}
	})
}

// FuzzLint: what no parser takes breaks a rule, and every finding is of a rule
// there is.
func FuzzLint(f *testing.F) {
	seed(f, func(frame.Message) error { return nil })
	for _, x := range readCapture(f, "25")[:20] {
		f.Add(x.Data[frame.EthernetLen:])
	}
	known := map[string]bool{}
	for _, r := range frame.Rules() {
		known[r.ID] = true
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		found := frame.Lint(b)
		for _, x := range found {
			if !known[x.Rule] || x.Where == "" || x.Text == "" {
				t.Errorf("got %+v, want a rule, a place and a text", x)
			}
		}
		if _, err := frame.Describe(b); err != nil && err != frame.ErrEncrypted && len(found) == 0 {
			t.Errorf("%v: got nothing", err)
		}
	})
}

// FuzzParseAddr: what parses prints a text that parses as the same.
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
func FuzzAddrString(f *testing.F) {
	f.Add(uint32(1), uint32(2), uint32(3))
	f.Add(uint32(0), uint32(0), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, x, y, z uint32) {
		checkAddr(t, frame.Service{Type: x, Instance: y, Node: frame.NodeAddr(z)})
		checkAddr(t, frame.Range{Type: x, Lower: min(y, z), Upper: max(y, z)})
		checkAddr(t, frame.SocketAddr{Port: x, Node: frame.NodeAddr(y)})
	})
}

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
