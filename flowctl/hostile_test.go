// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Validation and hostile input: the items of docs/spec/02-link.md §12 that are a link's.

// Item 4: lists of blocks that no receiver builds are ignored whole; the gap of the
// header counts.
//
// Proves: hostile.docs
func TestHostileItem4GapBlocks(t *testing.T) {
	long := make([]frame.GapBlock, 64)
	for i := range long {
		long[i] = frame.GapBlock{Ack: frame.Seq(3 + 2*i), Gap: 1}
	}
	for _, c := range []struct {
		name   string
		blocks []frame.GapBlock
	}{
		{"not behind the gap", []frame.GapBlock{{Ack: 1}}},
		{"in the gap", []frame.GapBlock{{Ack: 0}}},
		{"before the acknowledgement", []frame.GapBlock{{Ack: 65530}}},
		{"falling", []frame.GapBlock{{Ack: 6, Gap: 1}, {Ack: 4}}},
		{"twice", []frame.GapBlock{{Ack: 4, Gap: 1}, {Ack: 4}}},
		{"in the gap of the one before", []frame.GapBlock{{Ack: 4, Gap: 3}, {Ack: 6}}},
		{"the last with a gap", []frame.GapBlock{{Ack: 4, Gap: 3}}},
		{"no gap between", []frame.GapBlock{{Ack: 4}, {Ack: 6}}},
		{"never sent", []frame.GapBlock{{Ack: 11}}},
		{"a gap of what was never sent", long},
		{"far ahead", []frame.GapBlock{{Ack: 8000}}},
		{"half way round", []frame.GapBlock{{Ack: 32768}}},
		{"a gap of 65535", []frame.GapBlock{{Ack: 4, Gap: 65535}, {Ack: 6}}},
	} {
		r := newGapAckPeer(t)
		r.send(10)
		r.seqs()
		r.report(0, 1, c.blocks...)
		wantSeqs(t, c.name, r.seqs(), []int{1})
		if r.Unacked() != 10 || r.BadBlocks != 1 || !r.IsUp() {
			t.Errorf("%s: got %d unacknowledged, %d lists refused, up %v, want 10, 1, true", c.name, r.Unacked(), r.BadBlocks, r.IsUp())
		}
		r.done()
	}
	// Records: as long as they claim, or the message has no effect at all.
	for _, c := range []struct {
		name   string
		record []byte
		taken  bool
	}{
		{"none", nil, false},
		{"three bytes", []byte{0, 4, 0}, false},
		{"longer than the data", []byte{0, 8, 1, 0}, false},
		{"65535", []byte{255, 255, 0, 0, 0, 5, 0, 0}, false},
		{"length 0", []byte{0, 0, 1, 0, 0, 5, 0, 0}, true},
		{"255 blocks of each kind, not there", []byte{0, 8, 255, 255, 0, 5, 0, 0}, true},
		{"65 blocks", append([]byte{1, 8, 65, 0}, make([]byte, 260)...), true},
	} {
		r := newGapAckPeer(t)
		r.send(10)
		r.seqs()
		s, _ := parseLink(t, r.stateMsg(func(f *frame.StateFields) { f.Gap, f.Probe, f.Keepalive = 1, true, true })).State()
		f := s.Fields()
		taken := r.hear(f.Append(nil, c.record))
		if n := len(r.out()); taken != c.taken || r.Unacked() != 10 || c.taken != (n == 2) || !c.taken && n > 0 {
			t.Errorf("record %s: got taken %v, %d unacknowledged, %d frames in answer", c.name, taken, r.Unacked(), n)
		}
		r.done()
	}
}

// Item 5: what was never sent cannot be acknowledged; counted, the link stays up.
//
// Proves: hostile.docs
func TestHostileItem5AckOfWhatWasNeverSent(t *testing.T) {
	r := newGapAckPeer(t)
	defer r.done()
	r.send(10)
	r.seqs()
	n := uint64(0)
	for ack := 0; ack < 1<<16; ack += 7 {
		if a := frame.Seq(ack); a.Before(r.sndNxt) {
			continue
		}
		r.report(frame.Seq(ack), 5, frame.GapBlock{Ack: frame.Seq(ack) + 6})
		n++
	}
	if r.BadAcks != n || r.Unacked() != 10 || r.Retransmits != 0 || !r.IsUp() {
		t.Errorf("got %d of %d counted, %d unacknowledged, %d repeated, up %v", r.BadAcks, n, r.Unacked(), r.Retransmits, r.IsUp())
	}
}

// Item 6: a storm of reports repeats a packet once in a hold-off, and a gap of 65535 is
// what the field holds, of which what was sent is repeated.
//
// Proves: hostile.docs
func TestHostileItem6NackStorm(t *testing.T) {
	r := newGapAckPeer(t)
	defer r.done()
	r.send(50)
	r.seqs()
	for i := range 10_000 {
		r.now = time.Duration(i) * time.Microsecond
		r.ack0(65535)
		r.discard()
	}
	if got, most := r.Retransmits, uint64(50*(1+10_000/200)); got > most || got < 50 {
		t.Errorf("got %d repetitions of 50 packets in 10 ms, want at most %d", got, most)
	}
}

// ack0 reports a gap behind the acknowledgement of nothing, as wide as the field can be.
func (r *scriptedPeer) ack0(gap int) {
	r.t.Helper()
	b := r.stateMsg(func(f *frame.StateFields) { f.Ack = r.first() - 1 })
	w := binary.BigEndian.Uint32(b[4:])
	binary.BigEndian.PutUint32(b[4:], w|uint32(gap&0x1fff)<<16)
	s, _ := parseLink(r.t, b).State()
	f := s.Fields()
	if !r.hear(f.Append(nil, emptyGapAck)) {
		r.t.Fatal("STATE not accepted")
	}
}

// Item 7: "next sent" far ahead is a gap of no more than a window.
//
// Proves: hostile.docs
func TestHostileItem7NextSentTooHigh(t *testing.T) {
	for _, c := range []struct {
		next frame.Seq
		gap  int
	}{{5, 4}, {8192, 8191}, {8193, 8191}, {32767, 8191}, {32770, 0}, {65535, 0}} {
		r := newScriptedPeer(t).up()
		r.hear(r.stateMsg(func(f *frame.StateFields) { f.NextSent, f.Probe, f.Keepalive = c.next, true, true }))
		b := r.NextFrame()
		s, _ := parseLink(t, b.Bytes()[frame.EthernetLen:]).State()
		if s.Gap() != c.gap || r.NextFrame() != nil {
			t.Errorf("next %d: got gap %d, want %d in one answer", c.next, s.Gap(), c.gap)
		}
		b.Release()
		r.done()
	}
}

// Item 8: the window is checked before anything is kept, and what is kept has a bound.
//
// Proves: hostile.docs
func TestHostileItem8DeferredWithoutEnd(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	for s := range 1 << 16 {
		if s == 1 {
			continue // expected
		}
		v := r.receive(frame.Seq(s), 0)
		if in := s >= 2 && s <= MaxWindow+1; (v == Deferred) != in {
			t.Fatalf("packet %d: got %v, want it deferred %v", s, v, in)
		}
		if s%64 == 0 {
			r.discard()
		}
	}
	if k := r.Look(); k.Deferred != MaxWindow || r.arena.Total()-r.arena.Free() > maxLent+2 {
		t.Errorf("got %d deferred, %d chunks in use", k.Deferred, r.arena.Total()-r.arena.Free())
	}
}

// Item 12: who never acknowledges pins no more than the limits, and all of it comes back
// when the link ends.
//
// Proves: hostile.docs
func TestHostileItem12NeverAcknowledges(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 4096}) }).up()
	n := 0
	for imp := frame.Low; imp <= frame.Critical; imp++ {
		for {
			b := r.message(4)
			if r.Send(0, b, imp) != nil {
				b.Release()
				break
			}
			n++
		}
	}
	r.discard()
	if want := 50 + 100 + 200 + 300 + 400; n != want || r.Unacked()+r.Backlog() != want {
		t.Errorf("got %d taken, %d held, want %d", n, r.Unacked()+r.Backlog(), want)
	}
	for r.IsUp() {
		r.now = r.Deadline()
		if r.HandleTimeout(r.now); r.IsUp() {
			r.ack(0, 0)
		}
		r.discard()
	}
	r.Restart(r.now)
	r.discard()
	if got, want := r.arena.Free(), r.arena.Total(); got != want {
		t.Errorf("free chunks: got %v, want %v", got, want)
	}
}

// Item 13: no STATE has more than one in answer, and a deadline has a bounded number.
//
// Proves: hostile.docs
func TestHostileItem13StateFlood(t *testing.T) {
	for _, deferring := range []bool{false, true} {
		r := newGapAckPeer(t)
		if deferring {
			r.receive(9, 0)
			r.receive(5000, 0)
		}
		r.out()
		for i := range 5000 {
			r.now += time.Microsecond
			x := i % 8
			s, _ := parseLink(t, r.stateMsg(func(f *frame.StateFields) {
				f.Probe, f.Keepalive, f.NextSent = x&1 != 0, x&2 != 0, frame.Seq(x&4<<10)
			})).State()
			f := s.Fields()
			r.hear(f.Append(nil, emptyGapAck))
			if n := len(r.out()); n > 1 || x&3 == 0 && n > 0 {
				t.Fatalf("deferring %v, kind %d: got %d frames in answer", deferring, x, n)
			}
		}
		states := r.SentStates
		for end := r.now + r.sup.Interval(); r.Deadline() < end; {
			r.now = r.Deadline()
			r.HandleTimeout(r.now)
			if n := len(r.out()); n > 1 {
				t.Fatalf("got %d frames at one deadline", n)
			}
		}
		if n := r.SentStates - states; n > 20 {
			t.Errorf("deferring %v: got %d STATE messages in an interval without an answer, want few", deferring, n)
		}
		r.done()
	}
}

// Forged RESETs of a session that is not newer than the peer's do nothing.
//
// Proves: hostile.docs
func TestHostileForgedReset(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(3)
	r.out()
	refused := uint64(0)
	for d := frame.Seq(0); d < 32768; d += 31 {
		r.hear(reset(func(f *frame.ResetFields) { f.Session, f.PeerStopping, f.MaxPacket = 700-d, d&1 != 0, int(d%100)&^3 }))
		refused++
	}
	if !r.IsUp() || r.Rejected != refused || r.Unacked() != 3 || r.MTU() != 1500 {
		t.Errorf("got up %v, %d of %d refused, %d unacknowledged, MTU %d", r.IsUp(), r.Rejected, refused, r.Unacked(), r.MTU())
	}
}

// MTUs below the least are ignored.
//
// Proves: hostile.docs
func TestHostileTinyMTU(t *testing.T) {
	for mtu := 0; mtu < 100; mtu += 4 {
		r := newScriptedPeer(t)
		r.hear(reset(func(f *frame.ResetFields) { f.MaxPacket = mtu }))
		if got := fmt.Sprint(r.State(), r.MTU()); got != "reset1500" && got != "reset 1500" {
			t.Errorf("MTU %d: got %v, want reset 1500", mtu, got)
		}
	}
}

// Item 4: a report that takes back what blocks have acknowledged repeats nothing of it,
// and its own blocks count from where they say.
//
// Proves: hostile.docs
func TestHostileItem4TakesBack(t *testing.T) {
	r := newGapAckPeer(t)
	defer r.done()
	r.send(10)
	r.seqs()
	r.report(0, 2, frame.GapBlock{Ack: 5})
	wantSeqs(t, "1 and 2 are missing", r.seqs(), []int{1, 2})
	r.report(2, 2, frame.GapBlock{Ack: 7})
	wantSeqs(t, "3 and 4, which were there", r.seqs(), nil)
	if r.Unacked() != 3 || r.transmit.Len() != 3 {
		t.Errorf("got %d in %d places, want 3 in 3", r.Unacked(), r.transmit.Len())
	}
	r.Tick(0)
	r.out()
}

// Item 4: the gap that ends a list which was cut off lies before what is sent next.
//
// Proves: hostile.docs
func TestHostileItem4LastGap(t *testing.T) {
	for gap, refused := range map[uint16]uint64{1: 0, 2: 1} {
		r := newGapAckPeer(t, func(c *Config) { c.MinWindow, c.MaxWindow = 200, 200 })
		r.send(130)
		r.seqs()
		var blocks []frame.GapBlock
		for i := range 64 {
			blocks = append(blocks, frame.GapBlock{Ack: frame.Seq(3 + 2*i), Gap: 1})
		}
		blocks[63].Gap = gap
		if r.report(0, 2, blocks...); r.BadBlocks != refused {
			t.Errorf("a last gap of %d: got %d refused, want %d", gap, r.BadBlocks, refused)
		}
		r.out()
		r.done()
	}
}
