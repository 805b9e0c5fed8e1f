// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

func span(from, to int) (s []int) {
	for ; from <= to; from++ {
		s = append(s, from&0xffff)
	}
	return s
}

func wantSeqs(t testing.TB, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestSendStampsHeader(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) {
		frame.PutEthernet(c.Header[:], frame.MAC{2, 0, 0, 0, 0, 2}, frame.MAC{2, 0, 0, 0, 0, 1})
	}).up().at(7, 9)
	defer r.done()
	r.bc.Open(4)
	r.send(1)
	b := r.NextFrame()
	defer b.Release()
	if got, want := hexWords(b.Bytes()[:24]), "02000000 00020200 00000001 88ca4100 00246000 00040008"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := summary(b), "bytes=4 seq=7 ack=8 bcast-ack=4"; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The window fills, the backlog follows what is acknowledged, across the wrap.
func TestWindowAndBacklog(t *testing.T) {
	for _, first := range []int{1, 65500, 65486} {
		r := newScriptedPeer(t).up().at(frame.Seq(first), 1)
		r.send(120)
		wantSeqs(t, "window", r.seqs(), span(first, first+49))
		if r.Unacked() != 50 || r.Backlog() != 70 || r.Idle() {
			t.Errorf("got %d unacknowledged, %d waiting; want 50, 70", r.Unacked(), r.Backlog())
		}
		r.ack(frame.Seq(first+9), 0)
		wantSeqs(t, "10 acknowledged", r.seqs(), span(first+50, first+59))
		r.ack(frame.Seq(first+9), 0)
		wantSeqs(t, "the same again", r.seqs(), nil)
		r.ack(frame.Seq(first+59), 0)
		wantSeqs(t, "50 more", r.seqs(), span(first+60, first+109))
		r.receive(1, frame.Seq(first+109))
		wantSeqs(t, "by a packet", r.seqs(), span(first+110, first+119))
		r.ack(frame.Seq(first+119), 0)
		if !r.Idle() || r.SentPackets != 120 || r.Retransmits != 0 {
			t.Errorf("got idle %v, %d sent, %d repeated; want true, 120, 0", r.Idle(), r.SentPackets, r.Retransmits)
		}
		r.done()
	}
}

// What was never sent cannot be acknowledged, and a packet that says so is not delivered (spec
// 02 §12.5). Mutation: HandlePacket does not look at MayAck.
//
// Proves: link.order
func TestAckOfWhatWasNeverSent(t *testing.T) {
	for _, c := range []struct {
		first, ack frame.Seq
		gap        int
		bad        uint64
		left       int
	}{
		{1, 11, 0, 1, 10}, // one more than sent
		{1, 11, 5, 1, 10},
		{1, 32767, 0, 1, 10},
		{1, 10, 0, 0, 0}, // all
		{1, 0, 0, 0, 10}, // none: the first report there is
		{1, 65535, 3, 0, 10},
		{1, 40000, 3, 0, 10}, // long ago
		{65530, 4, 0, 1, 10},
		{65530, 3, 0, 0, 0},
		{65530, 65535, 0, 0, 4},
		{65530, 65529, 0, 0, 10},
		{65530, 65528, 9, 0, 10},
	} {
		for _, by := range []string{"STATE", "packet"} {
			r := newScriptedPeer(t).up().at(c.first, 1)
			r.send(10)
			r.seqs()
			r.now = time.Second
			if by == "STATE" {
				r.ack(c.ack, c.gap)
			} else if v := r.receive(1, c.ack); (v == Deliver) != (c.bad == 0) || (r.Expected() == 2) != (c.bad == 0) {
				t.Errorf("packet with ack %d: got %v, %d is expected next", c.ack, v, r.Expected())
			}
			if r.BadAcks != c.bad || r.Unacked() != c.left || r.Retransmits != 0 {
				t.Errorf("first %d, %s ack %d: got %d bad, %d left, %d repeated; want %d, %d, 0", c.first, by, c.ack, r.BadAcks, r.Unacked(), r.Retransmits, c.bad, c.left)
			}
			r.done()
		}
	}
}

// Proves: link.order
func TestGap(t *testing.T) {
	for _, c := range []struct {
		name string
		ack  frame.Seq
		gap  int
		want []int
		left int
	}{
		{"none", 2, 0, nil, 8},
		{"first", 0, 1, []int{1}, 10},
		{"some behind the acknowledgement", 3, 2, []int{4, 5}, 7},
		{"more than were sent", 3, 8191, span(4, 10), 7},
		{"all acknowledged", 10, 5, nil, 0},
		{"of an old report", 65535, 5, nil, 10},
	} {
		r := newScriptedPeer(t).up()
		r.send(10)
		r.seqs()
		r.now = time.Millisecond
		r.ack(c.ack, c.gap)
		wantSeqs(t, c.name, r.seqs(), c.want)
		if r.Unacked() != c.left || r.Retransmits != uint64(len(c.want)) {
			t.Errorf("%s: got %d left, %d repeated; want %d, %d", c.name, r.Unacked(), r.Retransmits, c.left, len(c.want))
		}
		r.done()
	}
}

// Proves: link.order
func TestGapOfWholeWindow(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) {
		c.MinWindow, c.MaxWindow, c.Arena = MaxWindow, MaxWindow, netdev.NewArena(netdev.ArenaConfig{Small: 8600})
	})
	r.up().at(60000, 1).send(MaxWindow)
	r.seqs()
	r.now = time.Second
	r.ack(59999, MaxWindow)
	wantSeqs(t, "repeated", r.seqs(), span(60000, 60000+MaxWindow-1))
	r.done()
}

// A packet is repeated at once, and then not more often than once in two round trips,
// 200 µs to 1 ms, with gap-ack blocks up to an interval; as a kernel, once between two ticks of its clock, from the first time
// it was sent (capture 16).
//
// Proves: link.order, link.gaps
func TestHoldOff(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		kernel, gapAck bool
		rtt            time.Duration
		want           []time.Duration
	}{
		{true, false, 0, []time.Duration{4000 * us}},
		{false, false, 0, []time.Duration{100 * us, 300 * us, 500 * us, 700 * us, 900 * us, 1100 * us}},
		{false, false, 300 * us, []time.Duration{100 * us, 700 * us, 1300 * us, 1900 * us, 2500 * us, 3100 * us}},
		{false, false, time.Second, []time.Duration{100 * us, 1100 * us, 2100 * us, 3100 * us}},
		{false, true, 0, []time.Duration{100 * us, 300 * us, 500 * us, 700 * us, 900 * us, 1100 * us}},
		{false, true, time.Millisecond, []time.Duration{100 * us, 2100 * us}},
	} {
		r := newScriptedPeer(t, func(k *Config) { k.AsKernel = c.kernel })
		if c.gapAck {
			r.cfg.Capabilities, r.caps = frame.CapGapAckBlock, r.caps|frame.CapGapAckBlock
		}
		r.up()
		r.send(1)
		r.seqs()
		r.estimate = c.rtt
		var at []time.Duration
		for i := range 40 {
			r.now = time.Duration(i+1) * 100 * us
			r.handleAck(r.now, 0, 1, frame.GapBlocks{})
			if len(r.seqs()) > 0 && len(at) < len(c.want) {
				at = append(at, r.now)
			}
		}
		if !slices.Equal(at, c.want) {
			t.Errorf("as a kernel %v, gap-ack %v, round trip %v: repeated at %v, want %v", c.kernel, c.gapAck, c.rtt, at, c.want)
		}
		if r.estimate = time.Hour; r.holdOff() > r.sup.Interval() {
			t.Errorf("got a hold-off of %v", r.holdOff())
		}
		r.done()
	}
}

// A repeated packet keeps its number and content, and acknowledges what has come
// since (spec 02 §6.3 MUST).
//
// Proves: link.order
func TestRepetitionKeepsContent(t *testing.T) {
	for _, lent := range []bool{false, true} {
		r := newScriptedPeer(t).up()
		r.bc.Open(0)
		b := r.message(500)
		for i := range 500 {
			b.Bytes()[frame.EthernetLen+frame.BasicLen+i] = byte(i)
		}
		if err := r.Send(0, b, frame.Low); err != nil {
			t.Fatal(err)
		}
		first := r.NextFrame()
		before := bytes.Clone(first.Bytes())
		if lent {
			first.Lend() // the device still holds it
		}
		first.Release()
		r.receive(1, 0)
		r.receive(2, 0)
		r.bc.rcvNxt = 5
		r.now = time.Millisecond
		r.ack(0, 1)
		again := r.NextFrame()
		if got, want := again == b, !lent; got != want {
			t.Errorf("lent %v: same Buffer %v, want %v", lent, got, want)
		}
		want := bytes.Clone(before)
		frame.StampAcks(want[frame.EthernetLen:], 2, 4)
		if !bytes.Equal(again.Bytes(), want) {
			t.Errorf("lent %v:\n got %x\nwant %x", lent, again.Bytes(), want)
		}
		if lent {
			if !bytes.Equal(b.Bytes(), before) {
				t.Error("bytes were changed while the device had them")
			}
			b.Complete()
		}
		again.Release()
		r.out()
		r.done()
	}
}

// While there is no memory for the copy, the repetition waits for the next report.
func TestRepetitionWithoutMemory(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.send(1)
	b := r.NextFrame()
	b.Lend()
	b.Release()
	var held []*netdev.Buffer
	for c := r.arena.Get(1, netdev.Control); c != nil; c = r.arena.Get(1, netdev.Control) {
		held = append(held, c)
	}
	r.now = time.Millisecond
	r.ack(0, 1)
	if got := r.seqs(); got != nil || r.NoChunk != 1 || r.Retransmits != 0 {
		t.Errorf("got %v, %d counted, %d repeated; want nothing, 1, 0", got, r.NoChunk, r.Retransmits)
	}
	for _, c := range held {
		c.Release()
	}
	b.Complete()
	r.ack(0, 1)
	wantSeqs(t, "with memory", r.seqs(), []int{1})
	r.done()
}

// Ten tolerances after the oldest packet was first repeated the link fails, at
// the report that asks for it once more (spec 02 §6.3).
//
// Proves: link.order
func TestRetransmissionFailure(t *testing.T) {
	const tol = 100 * time.Millisecond
	for _, c := range []struct {
		name  string
		after time.Duration // since the first repetition
		ack   frame.Seq
		gap   int
		up    bool
	}{
		{"not yet", 10 * tol, 0, 2, true},
		{"too long", 10*tol + 1, 0, 2, false},
		{"too long, but not asked for", 10*tol + 1, 0, 0, true},
		{"too long, but it came", 10*tol + 1, 1, 1, true},
	} {
		r := newScriptedPeer(t, func(cfg *Config) { cfg.Tolerance = tol }).up()
		r.send(1)
		r.now = 40 * time.Millisecond
		r.send(1)
		r.ack(0, 1)
		if r.Retransmits != 1 {
			t.Fatalf("got %d repeated, want 1", r.Retransmits)
		}
		r.now += 5 * tol
		r.ack(0, 1) // the first repetition counts, not the last
		r.now = 40*time.Millisecond + c.after
		r.ack(c.ack, c.gap)
		if r.IsUp() != c.up {
			t.Errorf("%s: got up %v, want %v", c.name, r.IsUp(), c.up)
		}
		r.out()
		r.done()
	}
}

func TestLimits(t *testing.T) {
	r := newScriptedPeer(t)
	var got []int
	for imp := frame.Low; imp <= frame.System; imp++ {
		got = append(got, r.Limit(imp))
	}
	if want := []int{100, 200, 300, 400}; !slices.Equal(got[:4], want) || got[4] < 873 {
		t.Errorf("got %v, want %v and at least 873", got, want)
	}
}

// Each importance has its own room behind the window; Room comes exactly when a
// sender that was turned away can go on.
func TestImportanceLimits(t *testing.T) {
	for imp := frame.Low; imp <= frame.Critical; imp++ {
		r := newScriptedPeer(t).up()
		for i := range 50 + r.Limit(imp) {
			if err := r.Send(0, r.message(4), imp); err != nil {
				t.Fatalf("%v, message %d: %v", imp, i, err)
			}
		}
		b := r.message(4)
		if err := r.Send(0, b, imp); err != ErrCongested || !r.Link.Congested(imp) {
			t.Errorf("%v: got %v, want %v", imp, err, ErrCongested)
		}
		b.Release() // it stays the caller's
		for other := frame.Low; other <= frame.System; other++ {
			if other != imp && r.Link.Congested(other) {
				t.Errorf("%v: %v has no room", imp, other)
			}
		}
		r.out()
		r.ack(0, 0)
		if e := r.TakeEvents(); e != 0 {
			t.Errorf("%v: got %q before anything was acknowledged", imp, eventText(e))
		}
		r.ack(1, 0)
		if e := r.TakeEvents(); e != Room {
			t.Errorf("%v: got %q, want room", imp, eventText(e))
		}
		r.ack(2, 0)
		if e := r.TakeEvents(); e != 0 {
			t.Errorf("%v: got %q, want room only once", imp, eventText(e))
		}
		r.out()
		r.done()
	}
}

// Nobody was turned away: no Room.
func TestNoRoomWithoutNeed(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(150)
	r.ack(50, 0)
	if e := r.TakeEvents(); e != 0 {
		t.Errorf("got %q, want nothing", eventText(e))
	}
	r.out()
}

// The backlog is one queue: importance does not reorder (spec 02 §6.2).
func TestBacklogKeepsOrder(t *testing.T) {
	r := newScriptedPeer(t).up()
	var want []byte
	for i := range 100 {
		b := r.message(4)
		b.Bytes()[frame.EthernetLen+frame.BasicLen] = byte(i)
		want = append(want, byte(i))
		if err := r.Send(0, b, frame.Importance(i%4)); err != nil {
			t.Fatal(err)
		}
	}
	var got []byte
	take := func() {
		for m := range r.sentMessages {
			got = append(got, m.Bytes()[frame.BasicLen])
		}
	}
	take()
	r.ack(50, 0)
	take()
	if !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	r.done()
}

func TestSystemBacklogFullIsStuck(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 4096}) })
	r.up()
	var err error
	for n := 0; err == nil; n++ {
		b := r.message(4)
		if err = r.Send(0, b, frame.System); err != nil {
			b.Release()
			if n < 50+873 {
				t.Errorf("full after %d messages, want at least %d", n, 50+873)
			}
		}
	}
	if !errors.Is(err, ErrCongested) || r.TakeEvents()&Stuck == 0 {
		t.Errorf("got %v, want %v and stuck", err, ErrCongested)
	}
	r.out()
	r.done()
}

func TestTooLong(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.hear(activate(func(f *frame.ResetFields) { f.MaxPacket = 1000 }))
	for _, c := range []struct {
		n    int
		want error
	}{{1000 - frame.BasicLen, nil}, {1001 - frame.BasicLen, ErrTooLong}} {
		b := r.message(c.n)
		if err := r.Send(0, b, frame.Low); err != c.want {
			t.Errorf("%d bytes: got %v, want %v", c.n, err, c.want)
		} else if err != nil {
			b.Release()
		}
	}
	r.out()
	r.done()
}

// A sender that is never acknowledged gives everything back when its link goes
// (spec 02 §12.12).
func TestResetGivesQueuesBack(t *testing.T) {
	r := newScriptedPeer(t).up()
	r.send(150)
	r.receive(5, 0)
	r.out()
	r.Fail()
	r.Restart(0)
	r.out()
	if got, want := r.arena.Free(), r.arena.Total(); got != want {
		t.Errorf("free chunks: got %v, want %v", got, want)
	}
	if got := fmt.Sprint(r.Unacked(), r.Backlog(), r.Link.Congested(frame.Low)); got != "0 0 false" {
		t.Errorf("got %v, want 0 0 false", got)
	}
}

// A packet that nobody acknowledges for ten tolerances ends the link, though the
// peer speaks and asks for nothing.
func TestNeverAcknowledged(t *testing.T) {
	r := newScriptedPeer(t, func(c *Config) { c.Tolerance = 100 * time.Millisecond }).up()
	r.send(1)
	for r.now < 2*time.Second {
		r.now = r.Deadline()
		if r.HandleTimeout(r.now); !r.IsUp() {
			break
		}
		r.ack(0, 0)
		r.out()
	}
	if r.IsUp() || r.now < time.Second || r.now > 1030*time.Millisecond {
		t.Errorf("got up %v at %v, want down at the first tick behind 1 s", r.IsUp(), r.now)
	}
	r.done()
}
