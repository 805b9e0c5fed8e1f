// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// What came out of order is released, what is missing is sent again, as it was.
//
// Proves: multicast.link
func TestBroadcastBlocks(t *testing.T) {
	r := newMembers(t, 2)
	defer r.done()
	r.send(29)
	r.discard()
	r.memberAck(0, 29)
	r.now = time.Millisecond
	if r.memberReport(1, 6, 1, frame.GapBlock{Ack: 13, Gap: 1}, frame.GapBlock{Ack: 20, Gap: 1}, frame.GapBlock{Ack: 27, Gap: 1}, frame.GapBlock{Ack: 29}) {
		t.Error("failed")
	}
	wantSeqs(t, "capture 15, frame 85", r.seqs(), []int{7, 14, 21, 28})
	r.wantUnder("what is missing", 4, 0, 29)
	if r.s.RecvNacks != 1 || r.s.Retransmits != 4 || r.s.BadBlocks != 0 {
		t.Errorf("got %d reports, %d repeated, %d bad; want 1, 4, 0", r.s.RecvNacks, r.s.Retransmits, r.s.BadBlocks)
	}
	r.memberReport(1, 20, 1, frame.GapBlock{Ack: 29})
	r.wantUnder("more came", 1, 0, 29)
	r.memberAck(1, 29)
	r.wantUnder("all came", 0, 0, 29)
}

// A member counts once for each packet, in whatever order it tells of it; and a member that
// takes back what it said is not believed.
//
// Proves: multicast.link
func TestBroadcastCountsOnce(t *testing.T) {
	r := newMembers(t, 2)
	defer r.done()
	r.send(10)
	r.memberReport(0, 2, 2, frame.GapBlock{Ack: 6, Gap: 1}, frame.GapBlock{Ack: 8})
	r.wantOwing("first", "[1:1 2:1 3:2 4:2 5:1 6:1 7:2 8:1 9:2 10:2]")
	r.memberReport(0, 2, 2, frame.GapBlock{Ack: 6, Gap: 1}, frame.GapBlock{Ack: 8})
	r.memberReport(0, 2, 1, frame.GapBlock{Ack: 4, Gap: 2}, frame.GapBlock{Ack: 7})
	r.wantOwing("contradicted", "[1:1 2:1 3:2 4:1 5:1 6:1 7:1 8:1 9:2 10:2]")
	r.seqs()
	r.now = time.Second
	r.memberReport(0, 2, 6)
	wantSeqs(t, "it had 4 to 8", r.seqs(), []int{3})
	r.memberReport(0, 3, 5)
	r.wantOwing("it had them", "[1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:2 10:2]")
	r.memberAck(0, 8)
	r.wantOwing("again", "[1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:2 10:2]")
	r.memberAck(1, 10)
	r.wantOwing("by the other", "[9:1 10:1]")
	r.memberAck(0, 10)
	r.wantOwing("all", "[]")
}

// Packet 7 is missing at three members, which report it again and again: it is repeated
// once per hold-off, two round trips and at least 200 µs, whoever asks; and at once
// when it was sent once.
//
// Proves: multicast.link
func TestBroadcastHoldOff(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		rtt  time.Duration
		want []time.Duration
	}{
		{0, []time.Duration{50 * us, 250 * us, 450 * us, 650 * us, 850 * us}},
		{200 * us, []time.Duration{50 * us, 450 * us, 850 * us}},
		{time.Hour, []time.Duration{50 * us}},
	} {
		r := newMembers(t, 3)
		r.send(10)
		r.discard()
		var got []time.Duration
		for r.now = 50 * us; r.now < time.Millisecond; r.now += 50 * us {
			for i, m := range r.m {
				m.rtt = c.rtt
				r.memberReport(i, 6, 1, frame.GapBlock{Ack: 10})
			}
			for range r.seqs() {
				got = append(got, r.now)
			}
		}
		wantTimes(t, c.rtt.String(), got, c.want...)
		r.done()
	}
}

// The member that asks is the one whose round trip counts: one that is far away knows
// of a repetition later than one nearby.
func TestBroadcastHoldOffIsOfTheMember(t *testing.T) {
	const us = time.Microsecond
	r := newMembers(t, 2)
	defer r.done()
	r.send(3)
	r.m[1].rtt = 5 * time.Millisecond
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 3})
	r.discard()
	r.now = 300 * us
	r.memberReport(1, 0, 1, frame.GapBlock{Ack: 3})
	wantSeqs(t, "far away", r.seqs(), nil)
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 3})
	wantSeqs(t, "nearby", r.seqs(), span(1, 1))
}

// A kernel lets three ticks of 4 ms pass, since it was sent first as well.
func TestBroadcastHoldOffAsKernel(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		sent, report time.Duration
		again        bool
	}{
		{0, 0, false},
		{0, 11 * ms, false},
		{0, 12 * ms, true},
		{3 * ms, 12 * ms, true},
		{4 * ms, 12 * ms, false},
		{4*ms - 1, 12 * ms, true},
		{7 * ms, 16*ms - 1, false},
		{7 * ms, 16 * ms, true},
	} {
		r := newMembers(t, 1, func(c *BroadcastConfig) { c.AsKernel = true })
		r.now = c.sent
		r.send(2)
		r.discard()
		for _, what := range []string{"first", "repeated"} {
			r.now += c.report - c.sent
			r.memberReport(0, 0, 1, frame.GapBlock{Ack: 2})
			if got := len(r.seqs()) == 1; got != c.again {
				t.Errorf("sent at %v, %s at %v: got repeated %v, want %v", c.sent, what, r.now, got, c.again)
			}
			if !c.again || c.sent%(4*ms) != 0 {
				break // the second time it is counted from another place
			}
		}
		r.done()
	}
}

// What cannot be acknowledged changes nothing and is counted.
//
// Proves: multicast.link
func TestBroadcastBadAcks(t *testing.T) {
	for _, c := range []struct {
		name string
		ack  frame.Seq
		bad  uint64
	}{
		{"the next to be sent", 4, 1}, {"far ahead", 5000, 1}, {"before", 0, 0}, {"long before", 0x9000, 0},
	} {
		r := newMembers(t, 1)
		r.send(3)
		r.discard()
		r.memberAck(0, 1)
		r.memberAck(0, c.ack)
		r.wantOwing(c.name, "[2:1 3:1]")
		r.memberReport(0, c.ack, 1, frame.GapBlock{Ack: c.ack + 2})
		r.wantOwing(c.name, "[2:1 3:1]")
		wantSeqs(t, c.name, r.seqs(), nil)
		if r.s.BadAcks != 2*c.bad {
			t.Errorf("%s: got %d bad, want %d", c.name, r.s.BadAcks, 2*c.bad)
		}
		r.memberAck(0, 3)
		r.done()
	}
}

// Gaps and blocks that cannot be say nothing, and are counted; the acknowledgement beside
// them counts.
//
// Proves: multicast.link
func TestBroadcastBadBlocks(t *testing.T) {
	b := func(ack frame.Seq, gap uint16) frame.GapBlock { return frame.GapBlock{Ack: ack, Gap: gap} }
	many := make([]frame.GapBlock, 65)
	for i := range many {
		many[i] = b(frame.Seq(3+2*i), 1)
	}
	many[64].Gap = 0
	for _, c := range []struct {
		name   string
		ack    frame.Seq
		gap    int
		blocks []frame.GapBlock
		bad    uint64
		owing  string
		again  []int
	}{
		{"the longest gap", 1, 9, nil, 0, "[2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(2, 10)},
		{"a gap beyond what was sent", 1, 10, nil, 1, "[2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", nil},
		{"the largest gap", 1, 1023, nil, 1, "[2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", nil},
		{"a negative one", 1, -1, nil, 0, "[2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", nil},
		{"a gap behind all", 10, 1, nil, 1, "[]", nil},
		{"the last block", 8, 1, []frame.GapBlock{b(10, 0)}, 0, "[9:1 10:0]", span(9, 9)},
		{"a block beyond", 8, 1, []frame.GapBlock{b(11, 0)}, 1, "[9:1 10:1]", span(9, 9)},
		{"a block's gap beyond", 6, 1, []frame.GapBlock{b(8, 3), b(12, 0)}, 1, "[7:1 8:1 9:1 10:1]", span(7, 7)},
		{"a block inside the gap", 2, 3, []frame.GapBlock{b(4, 0)}, 1, "[3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(3, 5)},
		{"a block before the one before it", 2, 1, []frame.GapBlock{b(6, 1), b(5, 0)}, 1, "[3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(3, 3)},
		{"the last has a gap", 2, 1, []frame.GapBlock{b(6, 1)}, 1, "[3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(3, 3)},
		{"a middle one has none", 2, 1, []frame.GapBlock{b(5, 0), b(7, 0)}, 1, "[3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(3, 3)},
		{"blocks without a gap", 8, 0, []frame.GapBlock{b(10, 0)}, 1, "[9:1 10:1]", nil},
		{"too many", 1, 1, many, 1, "[2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1]", span(2, 2)},
	} {
		r := newMembers(t, 1)
		r.send(10)
		r.discard()
		var list frame.GapBlocks
		if len(c.blocks) <= frame.MaxGapBlocks {
			list = castBlocks(c.blocks...)
		} else { // as a peer may write them
			rec := []byte{0, byte(4 + 4*len(c.blocks)), 0, byte(len(c.blocks))}
			rec[0] = byte((4 + 4*len(c.blocks)) >> 8)
			for _, x := range c.blocks {
				rec = append(rec, byte(x.Ack>>8), byte(x.Ack), byte(x.Gap>>8), byte(x.Gap))
			}
			g, _, _ := frame.ParseGapAcks(rec)
			list = g.Bcast()
		}
		if r.s.HandleReport(0, r.m[0], c.ack, c.gap, list) {
			t.Errorf("%s: failed", c.name)
		}
		r.wantOwing(c.name, c.owing)
		wantSeqs(t, c.name, r.seqs(), c.again)
		if r.s.BadBlocks != c.bad {
			t.Errorf("%s: got %d bad, want %d", c.name, r.s.BadBlocks, c.bad)
		}
		r.s.Leave(0, r.m[0])
		r.done()
	}
}

// Before it is confirmed nothing a member says counts; but it owes.
func TestBroadcastUnconfirmedMember(t *testing.T) {
	r := newMembers(t, 0)
	m := r.s.Join()
	r.send(3)
	r.discard()
	if m.Confirmed() {
		t.Error("confirmed at once")
	}
	r.s.HandleAck(0, m, 2)
	r.s.HandleAck(0, m, 99)
	r.s.HandleReport(0, m, 1, 1, castBlocks(frame.GapBlock{Ack: 3}))
	r.wantOwing("before", "[1:1 2:1 3:1]")
	if r.s.BadAcks != 0 || !m.Behind() || len(r.seqs()) != 0 {
		t.Errorf("got %d bad, behind %v", r.s.BadAcks, m.Behind())
	}
	m.Confirm()
	r.s.HandleAck(0, m, 2)
	r.wantOwing("after", "[3:1]")
	if !m.Confirmed() {
		t.Error("not confirmed")
	}
	r.s.Leave(0, m)
	r.done()
}

// The first packet missing is repeated for 10 tolerances since the first time, then the
// member has failed: at a report, as tried with a kernel, or overdue without one.
//
// Proves: multicast.link
func TestBroadcastFailure(t *testing.T) {
	const ms = time.Millisecond
	r := newMembers(t, 2, func(c *BroadcastConfig) { c.Tolerance = 100 * ms })
	defer r.done()
	r.send(3)
	r.now = 5 * ms
	r.memberAck(1, 3)
	for ; r.now <= 1005*ms; r.now += 100 * ms {
		if r.memberReport(0, 1, 1, frame.GapBlock{Ack: 3}) || r.m[0].Overdue(r.now) || r.m[1].Overdue(r.now) {
			t.Fatalf("failed at %v", r.now)
		}
	}
	r.discard()
	r.now = 1005*ms + 1
	if !r.m[0].Overdue(r.now) || r.m[1].Overdue(r.now) {
		t.Errorf("got overdue %v, %v, want true, false", r.m[0].Overdue(r.now), r.m[1].Overdue(r.now))
	}
	if r.memberReport(0, 1, 0) {
		t.Error("failed without a gap")
	}
	if !r.memberReport(0, 1, 1, frame.GapBlock{Ack: 3}) {
		t.Error("not failed")
	}
	wantSeqs(t, "repeated no more", r.seqs(), nil)
	r.send(1)
	r.discard()
	if r.memberReport(0, 2, 0) || r.m[0].Overdue(r.now) {
		t.Error("failed though it moved")
	}
	if r.now += 10*100*ms + 1; !r.m[0].Overdue(r.now) || !r.m[1].Overdue(r.now) {
		t.Error("never repeated, and not overdue")
	}
	if r.memberReport(0, 2, 1, frame.GapBlock{Ack: 4}); len(r.seqs()) != 0 {
		t.Error("repeated though it had 3")
	}
	r.s.Leave(r.now, r.m[0])
	if r.m[0].Overdue(r.now) {
		t.Error("overdue though it left")
	}
	r.memberAck(1, 4)
}

// A packet that was never repeated has not failed, however late it is missed; nor one that
// the member has had, whatever it says now.
func TestBroadcastNoFailure(t *testing.T) {
	r := newMembers(t, 2)
	defer r.done()
	r.now = time.Hour
	r.send(3)
	if r.memberReport(0, 0, 1, frame.GapBlock{Ack: 3}) || r.memberReport(1, 0, 3) {
		t.Error("failed at the first report")
	}
	r.now += time.Minute
	if r.memberReport(0, 1, 1) {
		t.Error("failed by a packet it has had")
	}
	if !r.memberReport(1, 0, 3) {
		t.Error("not failed by one it has not")
	}
	r.discard()
	r.memberAck(1, 3)
}

// A packet that a device still holds is repeated as a copy, in the same words; without
// memory for that it is not.
func TestBroadcastRepetitionKeepsContent(t *testing.T) {
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 8, Reserve: 2}) })
	r.send(2)
	first := r.NextFrame()
	first.Lend()
	want := bytes.Clone(first.Bytes())
	first.Release()
	r.discard()
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 2})
	again := r.NextFrame()
	if again == first || !bytes.Equal(again.Bytes(), want) {
		t.Errorf("lent: got the same Buffer %v, %x, want a copy of %x", again == first, again.Bytes(), want)
	}
	var all []*netdev.Buffer
	for b := r.arena.Get(100, netdev.Control); b != nil; b = r.arena.Get(100, netdev.Control) {
		all = append(all, b)
	}
	r.now = time.Second
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 2})
	if r.NextFrame() != nil || r.s.NoChunk != 1 {
		t.Errorf("no memory: got %d counted, want 1", r.s.NoChunk)
	}
	first.Complete()
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 2})
	if b := r.NextFrame(); b != first || !bytes.Equal(b.Bytes(), want) {
		t.Error("not lent: got another Buffer, or other bytes")
	} else {
		b.Release()
	}
	for _, b := range append(all, again) {
		b.Release()
	}
	r.memberAck(0, 2)
	r.done()
}

// The estimate is of each member, of what it acknowledged at once; that of the link the
// largest.
func TestBroadcastRoundTrip(t *testing.T) {
	const us = time.Microsecond
	r := newMembers(t, 2)
	defer r.done()
	r.send(40)
	r.now = 100 * us
	r.memberAck(0, 16)
	r.now = 300 * us
	r.memberAck(1, 16)
	want := func(what string, a, b, l time.Duration) {
		t.Helper()
		if r.m[0].rtt != a || r.m[1].rtt != b || r.s.RTT() != l {
			t.Errorf("%s: got %v, %v, %v, want %v, %v, %v", what, r.m[0].rtt, r.m[1].rtt, r.s.RTT(), a, b, l)
		}
	}
	want("at first", 100*us, 300*us, 300*us)
	r.now = 900 * us
	r.memberAck(0, 17)
	want("late", 100*us, 300*us, 300*us)
	r.memberAck(0, 33)
	want("16 are acknowledged at once", 200*us, 300*us, 300*us)
	r.memberReport(1, 16, 1, frame.GapBlock{Ack: 20})
	want("a report", 200*us, 375*us, 375*us)
	r.now = 5000 * us
	r.memberAck(1, 40)
	want("waited for one that was repeated", 200*us, 375*us, 375*us)
	r.s.Leave(r.now, r.m[1])
	r.HandleTimeout(r.now + time.Second)
	want("left", 200*us, 375*us, 200*us)
	r.discard()
	r.memberAck(0, 40)
}
