// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
)

func TestBroadcastOpen(t *testing.T) {
	b := NewBroadcastReceiver(self)
	if b.Up() || b.Ack() != 0 || b.Gap() != 0 {
		t.Errorf("new: got up %v ack %v gap %v, want false 0 0", b.Up(), b.Ack(), b.Gap())
	}
	b.Open(0x1234)
	if !b.Up() || b.Ack() != 0x1234 {
		t.Errorf("open: got up %v ack %#x, want true 0x1234", b.Up(), b.Ack())
	}
	b.Open(0x4321) // tried: no effect
	if b.Ack() != 0x1234 {
		t.Errorf("second opening: got ack %#x, want 0x1234", b.Ack())
	}
	b.Reset()
	if b.Up() || b.Ack() != 0 {
		t.Errorf("reset: got up %v ack %v, want false 0", b.Up(), b.Ack())
	}
}

func TestBroadcastBeforeOpeningIsDropped(t *testing.T) {
	r := newBroadcastReceiving(t, self, 0)
	defer r.done()
	r.bc.Reset()
	if v, report := r.broadcast(1); v != Dropped || report {
		t.Errorf("got %v %v, want dropped, no report", v, report)
	}
	if r.bc.HandleState(9) {
		t.Error("a report before the opening")
	}
	if _, _, ok := r.bc.Next(); ok {
		t.Error("a delivery before the opening")
	}
}

// Captures 14 and 23: acknowledgements of 0x01001002 end in hex digit c, those of
// 0x01001003 in b. At least every 16 to 31 packets.
//
// Proves: multicast.link, replay.found
func TestBroadcastAckDigit(t *testing.T) {
	for _, c := range []struct {
		self frame.NodeAddr
		last frame.Seq
		want []frame.Seq
	}{
		{0x1001002, 0, []frame.Seq{0x1c, 0x2c, 0x3c, 0x4c, 0x5c}},
		{0x1001003, 0, []frame.Seq{0x1b, 0x2b, 0x3b, 0x4b, 0x5b}},
		{0x1001001, 0, []frame.Seq{0x1d, 0x2d, 0x3d, 0x4d, 0x5d}},
		{0x1001002, 0xffe0, []frame.Seq{0xfffc, 0x000c, 0x001c, 0x002c, 0x003c}},
	} {
		r := newBroadcastReceiving(t, c.self, c.last)
		var got []frame.Seq
		for i := 1; len(got) < 5; i++ {
			if v, report := r.broadcast(c.last + frame.Seq(i)); v != Deliver {
				t.Fatalf("packet %d: got %v, want deliver", i, v)
			} else if report {
				got = append(got, r.bc.Ack())
			}
			if r.bc.unacked > 31 {
				t.Fatalf("%v: %d packets not acknowledged", c.self, r.bc.unacked)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: got %#x, want %#x", c.self, got, c.want)
		}
		r.done()
	}
}

// Capture 15, frames 62 and 66: 0x01001002 reports at its 2nd deferred packet and
// then at every 16th, 0x01001003 at its 3rd; the count is never set back.
func TestBroadcastNackSpreading(t *testing.T) {
	for _, c := range []struct {
		self frame.NodeAddr
		want []int
	}{
		{0x1001002, []int{2, 18, 34}},
		{0x1001003, []int{3, 19, 35}},
		{0x1001010, []int{16, 32}},
	} {
		r := newBroadcastReceiving(t, c.self, 0)
		var at []int
		n := 0
		for seq := frame.Seq(1); n < 40; seq++ {
			if seq%5 == 1 {
				continue // lost
			}
			n++
			v, report := r.broadcast(seq)
			if v != Deferred {
				t.Fatalf("packet %d: got %v, want deferred", seq, v)
			}
			if report {
				at = append(at, n)
			}
		}
		if !slices.Equal(at, c.want) {
			t.Errorf("%v: reports at %v, want %v", c.self, at, c.want)
		}
		r.done()
	}
}

// Proves: multicast.link
func TestBroadcastGap(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   frame.Seq // the peer had sent
		in     []frame.Seq
		said   frame.Seq // and says to have sent now
		gap    int
		report bool
	}{
		{"nothing sent", 0, nil, 0, 0, false},
		{"all there", 0, []frame.Seq{1, 2}, 2, 0, false},
		{"tail lost", 0, []frame.Seq{1}, 3, 2, true},
		{"deferred counts first", 0, []frame.Seq{3}, 9, 2, true},
		{"50 ahead", 0, nil, 50, 50, true},
		{"said before", 9, nil, 4, 0, false},
		{"wrap", 65534, nil, 1, 3, true},
		{"deferred far ahead", 0, []frame.Seq{5000}, 0, maxBcastGap, true},
	} {
		r := newBroadcastReceiving(t, self, c.last)
		for _, s := range c.in {
			r.broadcast(s)
		}
		report := r.bc.HandleState(c.said)
		if got := r.bc.Gap(); got != c.gap || report != c.report {
			t.Errorf("%s: got gap %v report %v, want %v %v", c.name, got, report, c.gap, c.report)
		}
		r.done()
	}
}

// Tried with 6.1: 50 ahead gives a gap of 50, 51 changes nothing (spec 04 §4.2).
func TestBroadcastLastSentTooHigh(t *testing.T) {
	b := NewBroadcastReceiver(self)
	b.Open(7)
	if b.HandleState(7 + 51); b.Gap() != 0 {
		t.Errorf("51 ahead: got gap %v, want 0", b.Gap())
	}
	if b.HandleState(7 + 50); b.Gap() != 50 {
		t.Errorf("50 ahead: got gap %v, want 50", b.Gap())
	}
	if b.HandleState(7 + 51); b.Gap() != 50 {
		t.Errorf("51 ahead again: got gap %v, want 50 still", b.Gap())
	}
}

// Packets are put in order and repetitions dropped, wherever they come from: a
// repetition by unicast is the same packet.
//
// Proves: multicast.link
func TestBroadcastOrder(t *testing.T) {
	for _, last := range []frame.Seq{0, 65533} {
		r := newBroadcastReceiving(t, self, last)
		var v []Verdict
		for _, s := range []frame.Seq{2, 2, 4, 1, 1, 3, 8192 + 5, 5} {
			x, _ := r.broadcast(last + s)
			v = append(v, x)
		}
		if want := []Verdict{Deferred, Dropped, Deferred, Deliver, Dropped, Deliver, Dropped, Deliver}; !slices.Equal(v, want) {
			t.Errorf("behind %d: got %v, want %v", last, v, want)
		}
		var want []string
		for i := range 5 {
			want = append(want, fmt.Sprint(last+1+frame.Seq(i)))
		}
		if !slices.Equal(r.got, want) {
			t.Errorf("behind %d: got %v, want %v", last, r.got, want)
		}
		if r.bc.Received != 6 || r.bc.Duplicates != 3 || r.bc.Deferred != 2 {
			t.Errorf("behind %d: got %d received, %d duplicates, %d deferred; want 6, 3, 2", last, r.bc.Received, r.bc.Duplicates, r.bc.Deferred)
		}
		r.done()
	}
}

// All the link tells of broadcast: acknowledge, gap, validity.
//
// Proves: replay.found
func TestLinkTellsOfBroadcast(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.Report(0)
	b := r.NextFrame()
	if s := parseLink(t, b.Bytes()[frame.EthernetLen:]); !s.BcastAckInvalid() || s.RedundantLink() || s.BcastAck() != 0 {
		t.Errorf("before: got invalid %v redundant %v ack %v", s.BcastAckInvalid(), s.RedundantLink(), s.BcastAck())
	}
	b.Release()
	r.bc.Open(0x1234)
	r.bc.HandleState(0x1234 + 3)
	r.bc.unacked = 5
	r.Report(0)
	b = r.NextFrame()
	s, _ := parseLink(t, b.Bytes()[frame.EthernetLen:]).State()
	if s.BcastAckInvalid() || !s.RedundantLink() || s.BcastAck() != 0x1234 || s.BcastGap() != 3 || s.LastBcast() != 0 {
		t.Errorf("after: got %x", s.Bytes())
	}
	if r.bc.unacked != 5 {
		t.Errorf("got %d owed, want 5: only the report that is due by number counts", r.bc.unacked)
	}
	b.Release()
}
