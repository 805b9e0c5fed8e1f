// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// deferrals are the numbers of a deferred queue as blocks.
func blocksOf(room int, seqs ...int) string {
	d := deferral{&deferredPackets{}}
	for _, s := range seqs {
		d.packets = append(d.packets, early{seq: frame.Seq(s)})
	}
	return blockText(shorten(d.blocks(make([]frame.GapBlock, 0, room))))
}

func blockText(blocks []frame.GapBlock) (s string) {
	for _, b := range blocks {
		s += fmt.Sprintf("<%d,%d>", b.Ack, b.Gap)
	}
	return s
}

// The example of spec 02 §5, and where a list is cut off.
//
// Proves: link.gaps
func TestGapBlocksOfDeferred(t *testing.T) {
	odd := func(n int) (s []int) {
		for i := range n {
			s = append(s, 2+2*i)
		}
		return s
	}
	cut := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf("<%d,1>", 2+2*i)
		}
		return s
	}
	for _, c := range []struct {
		name string
		room int
		seqs []int
		want string
	}{
		{"nothing", 64, nil, ""},
		{"spec 02 §5", 64, []int{4, 10, 11, 13, 14, 15, 20}, "<4,5><11,1><15,4><20,0>"},
		{"one run", 64, span(5, 9), "<9,0>"},
		{"wrap", 64, []int{65534, 65535, 1, 3}, "<65535,1><1,1><3,0>"},
		{"63 gaps", 64, odd(64), cut(63) + "<128,0>"},
		{"64 gaps", 64, odd(65), cut(64)},
		{"more", 64, odd(200), cut(64)},
		{"room for 2", 2, odd(65), "<2,1><4,0>"},
		{"room for none", 0, odd(65), ""},
	} {
		if got := blocksOf(c.room, c.seqs...); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Capture 16, frame 60: received up to 14, deferred 16 to 27 and 29 to 35, reported
// when the 19th was deferred.
//
// Proves: link.gaps
func TestGapBlocksAsCaptured(t *testing.T) {
	r := newGapAckPeer(t).at(3, 15)
	defer r.done()
	for s := 16; s <= 35; s++ {
		if s != 28 {
			r.receive(frame.Seq(s), 2)
		}
	}
	wantLines(t, "records", r.records(), "00080100"+"00120000", "000c0200"+"001b0001"+"00230000")
}

// Blocks on this link stand behind a gap only; those on the broadcast link always.
//
// Proves: link.gaps
func TestGapBlocksOfBothLinks(t *testing.T) {
	r := newGapAckPeer(t).at(1, 1)
	defer r.done()
	r.bc.Open(0)
	bcast := func(seq frame.Seq) {
		m, b := r.packet(seq, 0, "b")
		r.bc.HandlePacket(m, b)
		b.Release()
	}
	r.Report(0)
	bcast(3)
	bcast(5)
	r.Report(0)
	r.receive(2, 0)
	r.receive(4, 0)
	r.Report(0)
	r.receive(5, 0) // the third is reported
	r.bc.Reset()
	r.Probe(0)
	wantLines(t, "records", r.records(),
		"00040000",
		"000c0002"+"00030001"+"00050000",
		"000c0002"+"00030001"+"00050000",
		"00140202"+"00030001"+"00050000"+"00020001"+"00050000",
		"000c0200"+"00020001"+"00050000")
}

// A report is no longer than a packet may be.
//
// Proves: link.gaps
func TestGapBlocksFitIntoMTU(t *testing.T) {
	for mtu, want := range map[int]int{100: 14, 148: 26, 300: 64, 1500: 64} {
		r := newGapAckPeer(t, func(c *Config) { c.MTU = mtu })
		for s := range 150 {
			r.receive(frame.Seq(2+2*s), 0)
		}
		r.out()
		r.Probe(0)
		b := r.NextFrame()
		s, _ := parseLink(t, b.Bytes()[frame.EthernetLen:]).State()
		g, _, err := s.GapAcks(true)
		if err != nil || g.Unicast().Len() != want || !g.Unicast().Monotonic(s.Ack(), s.Gap()) || len(s.Bytes()) > mtu {
			t.Errorf("MTU %d: got %v, %d blocks in %d bytes, want %d that a receiver takes", mtu, err, g.Unicast().Len(), len(s.Bytes()), want)
		}
		b.Release()
		r.done()
	}
}

// What blocks acknowledge is released though older packets are not (spec 02 §6.3,
// tried; capture 16, frame 60).
//
// Proves: link.gaps
func TestGapBlocksRelease(t *testing.T) {
	for _, first := range []int{1, 65530} {
		f := frame.Seq(first)
		r := newGapAckPeer(t).at(f, 1)
		r.send(10)
		r.seqs()
		r.now = time.Second
		r.report(f-1, 2, frame.GapBlock{Ack: f + 3, Gap: 1}, frame.GapBlock{Ack: f + 5})
		wantSeqs(t, "repeated", r.seqs(), []int{first, (first + 1) & 0xffff, (first + 4) & 0xffff})
		if r.Unacked() != 7 || int(r.flight) != 7*r.transmit.At(0).b.Len() {
			t.Errorf("got %d packets, %d bytes under way, want 7, %d", r.Unacked(), r.flight, 7*r.transmit.At(0).b.Len())
		}
		r.now += time.Second
		r.report(f-1, 6)
		wantSeqs(t, "a later gap without blocks", r.seqs(), []int{first, (first + 1) & 0xffff, (first + 4) & 0xffff})
		r.report(f+3, 0)
		if r.Unacked() != 5 || r.transmit.Len() != 6 {
			t.Errorf("got %d in %d places, want 5 in 6", r.Unacked(), r.transmit.Len())
		}
		r.report(f+4, 0)
		if r.Unacked() != 4 || r.transmit.Len() != 4 {
			t.Errorf("got %d in %d places, want the hole in front gone", r.Unacked(), r.transmit.Len())
		}
		r.report(f+4, 1) // it overtook nothing: what is there is no longer missing
		wantSeqs(t, "a gap of what blocks acknowledged", r.seqs(), nil)
		r.report(f+9, 0)
		if !r.Idle() || r.flight != 0 {
			t.Errorf("got %d unacknowledged, %d bytes, want none", r.Unacked(), r.flight)
		}
		r.done()
	}
}

// The window counts what is under way: what blocks acknowledge makes room for as much.
//
// Proves: link.gaps
func TestGapBlocksOpenTheWindow(t *testing.T) {
	r := newGapAckPeer(t)
	defer r.done()
	r.send(90)
	r.seqs()
	r.report(0, 1, frame.GapBlock{Ack: 21})
	wantSeqs(t, "repeated, and new", r.seqs(), append([]int{1}, span(51, 70)...))
	if r.Unacked() != 50 || r.transmit.Len() != 70 {
		t.Errorf("got %d in %d places, want 50 in 70", r.Unacked(), r.transmit.Len())
	}
}

// Not more than two windows lie between the oldest packet and the newest, however little of that is
// under way: all of it is kept.
//
// Mutation: Open allows as many as a receiver takes.
//
// Proves: link.gaps
func TestSpanIsLimited(t *testing.T) {
	r := newGapAckPeer(t, func(c *Config) { c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 512}) }).at(65000, 1)
	defer r.done()
	r.send(100)
	last := 0
	for range 9000 / 50 {
		for _, s := range r.seqs() {
			last = max(last, int(frame.Seq(65000).Distance(frame.Seq(s))))
		}
		if r.Backlog() > 0 {
			r.report(64999, 1, frame.GapBlock{Ack: r.sndNxt - 1})
		}
		for r.Backlog() < 50 {
			r.send(1)
		}
	}
	if want := 2*DefaultWindow - 1; last != want || r.Open() || r.Unacked() != 1 {
		t.Errorf("got the last %d behind the first, %d under way, want %d, 1", last, r.Unacked(), want)
	}
}

// Both forms of a record, and one that says nothing: the gap counts in all.
//
// Proves: link.gaps
func TestGapRecordForms(t *testing.T) {
	for _, c := range []struct {
		name   string
		record []byte
		left   int
		want   []int
	}{
		{"unicast alone", []byte{0, 8, 1, 0, 0, 5, 0, 0}, 6, []int{1}},
		{"both kinds", []byte{0, 12, 1, 1, 0, 9, 0, 0, 0, 5, 0, 0}, 6, []int{1}},
		{"old form, byte 3 undefined", []byte{0, 8, 1, 77, 0, 5, 0, 0}, 6, []int{1}},
		{"inconsistent", []byte{0, 8, 2, 3, 0, 5, 0, 0}, 10, []int{1}},
		{"a domain record behind it", []byte{0, 8, 1, 0, 0, 5, 0, 0, 0, 0, 0, 16, 1, 2, 3, 4, 0, 0, 0, 0}, 6, []int{1}},
		{"broadcast blocks alone", []byte{0, 8, 0, 1, 0, 5, 0, 0}, 10, []int{1}},
	} {
		r := newGapAckPeer(t)
		r.send(10)
		r.seqs()
		r.reportRecord(0, 1, c.record)
		wantSeqs(t, c.name, r.seqs(), c.want)
		if r.Unacked() != c.left || r.BadBlocks != 0 {
			t.Errorf("%s: got %d left, %d lists refused, want %d, 0", c.name, r.Unacked(), r.BadBlocks, c.left)
		}
		r.done()
	}
}

// A peer without the bit sends no record: what its messages carry is something else.
//
// Proves: link.gaps
func TestNoBlocksWithoutTheCapability(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Capabilities = allCaps }).up()
	defer r.done()
	r.send(10)
	r.seqs()
	r.reportRecord(0, 1, []byte{0, 8, 1, 0, 0, 5, 0, 0})
	if r.Unacked() != 10 {
		t.Errorf("got %d unacknowledged, want 10", r.Unacked())
	}
	r.seqs()
	r.receive(3, 0)
	r.Probe(0)
	b := r.NextFrame()
	if d := parseLink(t, b.Bytes()[frame.EthernetLen:]).Data(); len(d) != 0 {
		t.Errorf("got a record: %x", d)
	}
	b.Release()
}

// What one end builds the other one takes: a link with holes is repaired.
//
// Proves: link.gaps
func TestGapBlocksEndToEnd(t *testing.T) {
	lost := []int{1, 2, 7, 20, 21, 22, 40}
	a := newGapAckPeer(t)
	z := newGapAckPeer(t)
	a.send(45)
	for m := range a.sentMessages {
		if !slices.Contains(lost, int(m.Seq())) {
			z.receive(m.Seq(), 0)
		}
	}
	z.out()
	z.Probe(0)
	b := z.NextFrame()
	s, _ := parseLink(t, bytes.Clone(b.Bytes()[frame.EthernetLen:])).State()
	b.Release()
	f := s.Fields()
	f.Session, f.Seq, f.Orig, f.Dest, f.Probe, f.Keepalive = 700, a.rcvNxtState, peer, self, false, false
	a.hear(f.Append(nil, s.Data()))
	wantSeqs(t, "repeated", a.seqs(), lost)
	if a.Unacked() != len(lost) || a.BadBlocks != 0 {
		t.Errorf("got %d unacknowledged, %d lists refused, want %d, 0", a.Unacked(), a.BadBlocks, len(lost))
	}
	a.done()
	z.done()
}
