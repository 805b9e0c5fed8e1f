// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
)

// state returns a STATE with the record.
func state(t testing.TB, record []byte) frame.State {
	t.Helper()
	f := frame.StateFields{}
	m, err := frame.Parse(f.Append(nil, record))
	if err != nil {
		t.Fatal(err)
	}
	l, err := frame.ParseLink(m)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := l.State()
	return s
}

// Proves: wire.bytes
func TestGapAcks(t *testing.T) {
	for _, c := range []struct {
		name, hex      string
		form           frame.GapForm
		bcast, unicast []frame.GapBlock
		rest           int
		want           error
	}{
		{"empty", "00040000", frame.GapBoth, nil, nil, 0, nil},
		{"02 §11", "000c0200 001b0001 00230000", frame.GapBoth, nil, []frame.GapBlock{{27, 1}, {35, 0}}, 0, nil},
		{"04 §4.3", "00140004 000d0001 00140001 001b0001 001d0000", frame.GapBoth, []frame.GapBlock{{13, 1}, {20, 1}, {27, 1}, {29, 0}}, nil, 0, nil},
		{"both", "000c0101 000d0000 00140000", frame.GapBoth, []frame.GapBlock{{13, 0}}, []frame.GapBlock{{20, 0}}, 0, nil},
		{"something behind", "00080100 000d0000 1122", frame.GapBoth, nil, []frame.GapBlock{{13, 0}}, 2, nil},
		{"old", "000801ee 000d0000", frame.GapOld, nil, []frame.GapBlock{{13, 0}}, 0, nil},
		{"old and empty", "000400ee 000d0000", frame.GapOld, nil, nil, 4, nil},
		{"counts too large", "00080201 000d0000", frame.GapNone, nil, nil, 0, nil},
		{"counts too small", "000c0100 000d0000 00140000 99", frame.GapNone, nil, nil, 1, nil},
		{"length 0", "00000000 000d0000", frame.GapNone, nil, nil, 8, nil},
		{"length 3", "00030000", frame.GapNone, nil, nil, 1, nil},
		{"length 5", "00050000 00", frame.GapNone, nil, nil, 0, nil},
		{"one byte short", "00080100 000d00", 0, nil, nil, 0, frame.ErrTruncated},
		{"three bytes", "000400", 0, nil, nil, 0, frame.ErrTruncated},
		{"nothing", "", 0, nil, nil, 0, frame.ErrTruncated},
	} {
		b := samples.Unhex(t, c.hex)
		s := state(t, b)
		g, rest, err := s.GapAcks(true)
		if err != c.want || g.Form() != c.form || len(rest) != c.rest {
			t.Errorf("%s: got %v, %d bytes behind, %v, want %v, %d, %v", c.name, g.Form(), len(rest), err, c.form, c.rest, c.want)
		}
		if got := slices.Collect(g.Bcast().All()); !slices.Equal(got, c.bcast) {
			t.Errorf("%s: got %v for broadcast, want %v", c.name, got, c.bcast)
		}
		if got := slices.Collect(g.Unicast().All()); !slices.Equal(got, c.unicast) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.unicast)
		}
		if f := g.Fields(nil); g.Form() == frame.GapBoth && !bytes.Equal(f.Append(nil), g.Bytes()) {
			t.Errorf("%s: got %x, want %x", c.name, f.Append(nil), g.Bytes())
		}
		if err == nil && !bytes.Equal(append(bytes.Clone(g.Bytes()), rest...), b) {
			t.Errorf("%s: got %x and %x, want them to be %x", c.name, g.Bytes(), rest, b)
		}
		if g, rest, err := s.GapAcks(false); err != nil || g.Form() != frame.GapNone || len(rest) != len(b) {
			t.Errorf("%s, not announced: got %v, %d bytes behind, %v, want %v, %d, nil", c.name, g.Form(), len(rest), err, frame.GapNone, len(b))
		}
	}
}

// Proves: wire.bytes
func TestGapBlocksMonotonic(t *testing.T) {
	cut := make([]frame.GapBlock, frame.MaxGapBlocks)
	for i := range cut {
		cut[i] = frame.GapBlock{Ack: frame.Seq(12 + 2*i), Gap: 1}
	}
	for _, c := range []struct {
		name   string
		ack    frame.Seq
		gap    int
		blocks []frame.GapBlock
		want   bool
	}{
		{"none", 14, 0, nil, true},
		{"02 §11", 14, 1, []frame.GapBlock{{27, 1}, {35, 0}}, true},
		{"wraps", 65530, 3, []frame.GapBlock{{65535, 2}, {4, 0}}, true},
		{"first in the gap", 14, 2, []frame.GapBlock{{16, 0}}, false},
		{"first before ack", 14, 2, []frame.GapBlock{{13, 0}}, false},
		{"second in the first's gap", 14, 1, []frame.GapBlock{{20, 2}, {22, 0}}, false},
		{"going back", 14, 1, []frame.GapBlock{{20, 2}, {19, 0}}, false},
		{"no gap in the middle", 14, 1, []frame.GapBlock{{20, 0}, {24, 0}}, false},
		{"a gap at the end", 14, 1, []frame.GapBlock{{20, 1}}, false},
		{"a gap at the end, cut off", 10, 1, cut, true},
		{"beyond the window", 0, 1, []frame.GapBlock{{8193, 0}}, false},
		{"at the window's end", 0, 1, []frame.GapBlock{{8192, 0}}, true},
	} {
		f := frame.GapAckFields{Unicast: c.blocks}
		g, _, err := frame.ParseGapAcks(f.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Unicast().Monotonic(c.ack, c.gap); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	long := append([]byte{1, 8, 65, 0}, make([]byte, 65*4)...)
	g, _, err := frame.ParseGapAcks(long)
	if err != nil || g.Unicast().Len() != 65 || g.Unicast().Monotonic(0, 1) {
		t.Errorf("65 blocks: got %d, %v, monotonic %v, want 65, nil, false", g.Unicast().Len(), err, g.Unicast().Monotonic(0, 1))
	}
}

// Proves: wire.bytes
func TestDomain(t *testing.T) {
	members := make([]frame.NodeAddr, 65)
	full := frame.DomainFields{Members: members}
	many := append([]byte{1, 20, 0, 0, 0, 0, 0, 65}, make([]byte, 8+65*4)...)
	for _, c := range []struct {
		name   string
		b      []byte
		fields frame.DomainFields
		want   error
	}{
		{
			"03 §8.2", samples.Unhex(t, "0014 0001 0000 0001 0000000000000001 01001002"),
			frame.DomainFields{Gen: 1, UpMap: 1, Members: []frame.NodeAddr{nodeB}},
			nil,
		},
		{
			"03 §8.2, dummy", samples.Unhex(t, "0010 0001 0002 0000 0000000001001001"),
			frame.DomainFields{Gen: 1, AckGen: 2, UpMap: 0x01001001},
			nil,
		},
		{"64 members", full.Append(nil), frame.DomainFields{Members: members[:64]}, nil},
		{"65 members", many, frame.DomainFields{}, frame.ErrMalformed},
		{"15 bytes", make([]byte, 15), frame.DomainFields{}, frame.ErrTruncated},
		{"one byte more", samples.Unhex(t, "0010 0001 0002 0000 0000000001001001 00"), frame.DomainFields{}, frame.ErrMalformed},
		{"length one less", samples.Unhex(t, "000f 0001 0002 0000 0000000001001001"), frame.DomainFields{}, frame.ErrMalformed},
		{"a member less than told", samples.Unhex(t, "0014 0001 0002 0001 0000000001001001"), frame.DomainFields{}, frame.ErrMalformed},
		{"a member more than told", samples.Unhex(t, "0014 0001 0000 0000 0000000000000001 01001002"), frame.DomainFields{}, frame.ErrMalformed},
	} {
		if d, ok, err := state(t, append([]byte{0, 4, 0, 0}, c.b...)).Domain(true); err != c.want || ok != (err == nil) {
			t.Errorf("%s, behind a record: got %v, %v, want %v", c.name, ok, err, c.want)
		} else if ok {
			got := d.Fields(nil)
			if d.Len() == 0 {
				got.Members = nil
			}
			if !reflect.DeepEqual(got, c.fields) || !bytes.Equal(got.Append(nil), c.b) {
				t.Errorf("%s: got %+v, want %+v", c.name, got, c.fields)
			}
		}
		s := state(t, c.b)
		if _, ok, err := s.Domain(false); err != c.want || ok != (err == nil) {
			t.Errorf("%s: got %v, %v, want %v", c.name, ok, err, c.want)
		}
		if c.want == nil && s.GuessRecord() {
			t.Errorf("%s: taken for a record of gap-ack blocks", c.name)
		}
	}
	if _, ok, err := state(t, []byte{0, 4, 0, 0}).Domain(true); ok || err != nil {
		t.Errorf("a record alone: got %v, %v, want false, nil", ok, err)
	}
	if _, ok, err := state(t, nil).Domain(false); ok || err != nil {
		t.Errorf("no data: got %v, %v, want false, nil", ok, err)
	}
	if state(t, nil).GuessRecord() {
		t.Errorf("no data: got a record, want none")
	}
}

func TestDomainUp(t *testing.T) {
	f := frame.DomainFields{UpMap: 1<<63 | 1<<1, Members: make([]frame.NodeAddr, 64)}
	d, err := frame.ParseDomain(f.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Members() {
		if want := i == 1 || i == 63; d.Up(i) != want {
			t.Errorf("member %d: got %v, want %v", i, d.Up(i), want)
		}
	}
}

// Proves: wire.cost
func TestRecordsDoNotAllocate(t *testing.T) {
	s := state(t, samples.Unhex(t, "000c0200 001b0001 00230000 0014 0001 0000 0001 0000000000000001 01001002"))
	blocks, members := make([]frame.GapBlock, 0, 8), make([]frame.NodeAddr, 0, 8)
	n := testing.AllocsPerRun(100, func() {
		g, _, err := s.GapAcks(true)
		d, ok, err2 := s.Domain(true)
		if err != nil || err2 != nil || !ok {
			t.Fatal(err, err2, ok)
		}
		for x := range g.Unicast().All() {
			sink += uint32(x.Ack)
		}
		for _, a := range d.Members() {
			sink += uint32(a)
		}
		f, x := g.Fields(blocks), d.Fields(members)
		sink += uint32(len(f.Unicast) + len(x.Members))
		if g.Unicast().Monotonic(14, 1) {
			sink++
		}
	})
	if n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Proves: wire.hostile
func FuzzGapAcks(f *testing.F) {
	f.Add([]byte{0, 12, 2, 0, 0, 27, 0, 1, 0, 35, 0, 0}, uint16(14), uint16(1))
	f.Add([]byte{0, 8, 1, 0xee, 0, 27, 0, 0}, uint16(14), uint16(1))
	seedStates(f, func(s frame.State) { f.Add(s.Data(), uint16(s.Ack()), uint16(s.Gap())) })
	f.Fuzz(func(t *testing.T, b []byte, ack, gap uint16) {
		g, rest, err := frame.ParseGapAcks(b)
		if err != nil {
			return
		}
		if !bytes.Equal(append(bytes.Clone(g.Bytes()), rest...), b) {
			t.Errorf("got %x and %x, want them to be %x", g.Bytes(), rest, b)
		}
		x := g.Fields(nil)
		got := x.Append(nil)
		switch {
		case g.Form() == frame.GapBoth && len(x.Unicast) <= frame.MaxGapBlocks && len(x.Bcast) <= frame.MaxGapBlocks:
			if !bytes.Equal(got, g.Bytes()) {
				t.Errorf("got %x, want %x", got, g.Bytes())
			}
		case g.Form() == frame.GapOld && len(x.Unicast) <= frame.MaxGapBlocks:
			if got[3] = g.Bytes()[3]; !bytes.Equal(got, g.Bytes()) {
				t.Errorf("got %x, want %x", got, g.Bytes())
			}
		case g.Form() == frame.GapNone && len(got) != 4:
			t.Errorf("got blocks %+v, want none", x)
		}
		if l := g.Unicast(); l.Monotonic(frame.Seq(ack), int(gap&0x1fff)) && l.Len() > 0 {
			last := l.At(l.Len() - 1).Ack
			if d := frame.Seq(ack).Distance(last); d < 1 || d > 8192 {
				t.Errorf("ack %d gap %d %+v: got monotonic up to %d", ack, gap, x.Unicast, last)
			}
		}
	})
}

// Proves: wire.hostile
func FuzzDomain(f *testing.F) {
	for _, s := range []string{"0014 0001 0000 0001 0000000000000001 01001002", "0010 0001 0002 0000 0000000001001001"} {
		f.Add(samples.Unhex(f, s))
	}
	seedStates(f, func(s frame.State) { f.Add(s.Data()) })
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := frame.ParseDomain(b)
		if err != nil {
			return
		}
		x := d.Fields(nil)
		if got := x.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("got %x, want %x", got, b)
		}
	})
}

// seedStates gives every STATE of some captures whose data no other has to add.
func seedStates(f *testing.F, add func(frame.State)) {
	seen := map[string]bool{}
	for _, number := range []string{"15", "16", "17", "18"} {
		for _, x := range samples.Read(f, number) {
			m, err := frame.Parse(x.Data[frame.EthernetLen:])
			if err != nil {
				f.Fatal(err)
			}
			if l, err := frame.ParseLink(m); err == nil {
				if s, ok := l.State(); ok && !seen[string(s.Data())] {
					seen[string(s.Data())] = true
					add(s)
				}
			}
			if len(seen) > 50 {
				return
			}
		}
	}
}
