// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A castModel keeps for each packet under way the set of members that owe its
// acknowledgement, which is all the sender's books stand for.
type castModel struct {
	*scriptedPeer
	l     *ledger
	owed  map[frame.Seq]map[*Member]bool
	last  frame.Seq // the newest packet that was looked at
	lent  []*netdev.Buffer
	stats struct{ left, last, failed, refused, holes, repeats int }
}

// learn notes which packets were sent for the first time: all members owe them.
func (c *castModel) learn() {
	for c.last != c.s.Last() {
		c.last++
		set := map[*Member]bool{}
		for _, m := range c.m {
			set[m] = true
		}
		c.owed[c.last] = set
	}
}

// acked is what a member has in order.
func (c *castModel) acked(m *Member) frame.Seq {
	seq := c.last
	for c.owed[seq] != nil {
		seq--
	}
	for ; seq != c.last && !c.owed[seq+1][m]; seq++ {
	}
	return seq
}

// has notes that a member told that it has packets, from one behind after up to to.
func (c *castModel) has(m *Member, after, to frame.Seq) {
	for seq := after; seq != to; {
		seq++
		delete(c.owed[seq], m)
	}
}

// believe notes what follows from a report by the words of the specification, and
// reports whether all of it is sound.
func (c *castModel) believe(m *Member, ack frame.Seq, gap int, blocks []frame.GapBlock) (sound bool) {
	from := c.acked(m)
	if !m.Confirmed() || ack.Before(from) || ack.After(c.last) {
		return !m.Confirmed() || !ack.After(c.last)
	}
	c.has(m, from, ack)
	at, end := int(gap), ack.Distance(c.last) // packets behind ack spoken of, and there are
	if gap > end {
		return false
	}
	for i, b := range blocks {
		d := ack.Distance(b.Ack)
		final := i == len(blocks)-1
		if gap == 0 || d <= at || d+int(b.Gap) > end || final != (b.Gap == 0) {
			return false
		}
		at = d + int(b.Gap)
	}
	at = gap
	for _, b := range blocks {
		c.has(m, ack+frame.Seq(at), b.Ack)
		at = ack.Distance(b.Ack) + int(b.Gap)
	}
	return true
}

// report has a member report, and compares what is counted.
func (c *castModel) report(m *Member, ack frame.Seq, gap int, blocks ...frame.GapBlock) {
	bad, was := c.s.BadAcks+c.s.BadBlocks, c.s.Retransmits
	sound := c.believe(m, ack, gap, blocks)
	failed := c.s.HandleReport(c.now, m, ack, gap, castBlocks(blocks...))
	if got := c.s.BadAcks+c.s.BadBlocks != bad; got == sound {
		c.t.Fatalf("report of %d, gap %d, %v, last %d: got refused %v, want %v", ack, gap, blocks, c.last, got, !sound)
	}
	if !sound {
		c.stats.refused++
	}
	c.stats.repeats += int(c.s.Retransmits - was)
	if failed {
		c.stats.failed++
		c.leave(m)
	}
}

// truth builds the report of a member that has what the model says, and some more.
func (c *castModel) truth(m *Member, x *calls) (ack frame.Seq, gap int, blocks []frame.GapBlock) {
	ack = c.acked(m)
	have := func(seq frame.Seq) bool { return !c.owed[seq][m] }
	for n := x.byte() % 32; n > 0 && ack != c.last; n-- {
		ack++
	}
	for ack != c.last && have(ack+1) {
		ack++
	}
	seq := ack
	for seq != c.last {
		missing := 0
		for ; seq != c.last && !have(seq+1) && (missing == 0 || x.byte()&1 != 0); missing++ {
			seq++
		}
		from := seq
		for seq != c.last && (have(seq+1) || x.byte()&3 != 0) {
			seq++
		}
		if seq == from { // nothing came behind: they are missing with what is before
			break
		}
		if gap == 0 {
			gap = missing
		} else {
			blocks[len(blocks)-1].Gap = uint16(missing)
		}
		blocks = append(blocks, frame.GapBlock{Ack: seq})
	}
	return ack, gap, blocks
}

// leave takes a member out.
func (c *castModel) leave(m *Member) {
	at := -1
	for i := range c.m {
		if c.m[i] == m {
			at = i
		}
	}
	c.m = append(c.m[:at], c.m[at+1:]...)
	for _, set := range c.owed {
		delete(set, m)
	}
	c.s.Leave(c.now, m)
	c.stats.left++
	if len(c.m) == 0 {
		c.stats.last++
		c.owed = map[frame.Seq]map[*Member]bool{}
		c.l.restart()
		if c.s.cfg.AsKernel {
			c.last = 0
		} else if c.s.Last().After(c.last) {
			c.last = c.s.Last() // numbered, and dropped before they left
		}
		c.l.sent = c.last
		if c.s.Last() != c.last || c.NextFrame() != nil {
			c.t.Fatalf("the last left: got last %d, want %d, or a frame", c.s.Last(), c.last)
		}
	}
}

// send gives the link messages.
func (c *castModel) send(x *calls) {
	op := x.byte()
	if len(c.m) == 0 {
		before := c.s.Unheard
		if b := c.arena.Get(100, netdev.Data); b != nil {
			b.Extend(100)
			if c.s.Send(c.now, b, frame.Importance(op%5)) != nil || c.s.Unheard != before+1 {
				c.t.Fatal("not dropped without a member")
			}
		}
		return
	}
	switch {
	case op >= 230:
		c.l.flush()
	case op >= 210:
		c.l.sendAll(int(x.byte()%6), frame.Importance(x.byte()%5))
	default:
		for range op % 40 {
			how, n := x.byte(), frame.BasicLen+4+int(x.byte())
			if !c.l.send(op/40, n, frame.Importance(how%5), x.byte()) {
				return
			}
		}
	}
}

// step makes one call.
func (c *castModel) step(x *calls) {
	if c.arena.Free() < 8 {
		c.discard()
	}
	op, which := x.byte(), x.byte()
	var m *Member
	if len(c.m) > 0 {
		m = c.m[int(which)%len(c.m)]
	}
	switch op %= 16; {
	case op < 4:
		c.send(x)
	case op == 4 && len(c.m) < 6 && (which < 120 || len(c.m) == 0):
		m = c.s.Join()
		c.m = append(c.m, m)
		if which&3 != 0 {
			m.Confirm()
		}
	case op == 5:
		c.now += time.Duration(which) * time.Millisecond / 16
		if x.byte() > 250 {
			c.now += time.Second
		}
		c.s.HandleTimeout(c.now)
	case op == 6:
		for range which % 32 {
			if b := c.NextFrame(); b != nil {
				b.Lend()
				b.Release()
				c.lent = append(c.lent, b)
			}
		}
		for len(c.lent) > int(x.byte()%32) {
			c.lent[0].Complete()
			c.lent = c.lent[1:]
		}
	case op == 7 && which < 64:
		c.s.SetWindow(c.now, int(which))
	case op == 7:
		c.s.TakeRoom()
		c.s.Want(c.now, frame.Importance(which%5))
	case m == nil:
	case op == 8 && x.byte() < 60:
		c.leave(m)
	case op == 9:
		m.Confirm()
	case op == 10:
		ack := x.near(c.acked(m))
		c.believe(m, ack, 0, nil)
		c.s.HandleAck(c.now, m, ack)
	case op == 11:
		gap := int(x.byte() % 8)
		var blocks []frame.GapBlock
		ack := x.near(c.acked(m))
		for at := ack + frame.Seq(gap); x.byte()&3 != 0 && len(blocks) < 60; {
			at += frame.Seq(x.byte() % 4)
			blocks = append(blocks, frame.GapBlock{Ack: at, Gap: uint16(x.byte() % 4)})
			at += frame.Seq(blocks[len(blocks)-1].Gap)
		}
		if n := len(blocks); n > 0 && x.byte()&7 != 0 {
			blocks[n-1].Gap = 0
		}
		c.report(m, ack, gap, blocks...)
	default:
		ack, gap, blocks := c.truth(m, x)
		c.report(m, ack, gap, blocks...)
	}
}

// check compares the sender with the model.
func (c *castModel) check() {
	c.t.Helper()
	c.learn()
	n := c.transmit.Len()
	if n > bcastWindow || c.s.Unacked() > n {
		c.t.Fatalf("%d packets from the first missing, %d under way", n, c.s.Unacked())
	}
	for i := range n {
		seq, p := c.sndNxt-frame.Seq(n-i), c.transmit.At(i)
		if int(p.owing) != len(c.owed[seq]) || (p.b == nil) != (p.owing == 0) {
			c.t.Fatalf("packet %d: got %d that owe it, released %v, want %d", seq, p.owing, p.b == nil, len(c.owed[seq]))
		}
	}
	for seq, set := range c.owed {
		if d := seq.Distance(c.last); d >= n && len(set) > 0 {
			c.t.Fatalf("packet %d is owed by %d and gone", seq, len(set))
		} else if d > 100 {
			delete(c.owed, seq)
		}
	}
	for i, m := range c.m {
		owes := false
		for _, set := range c.owed {
			owes = owes || set[m]
		}
		if m.Behind() != owes || m.acked != c.acked(m) || c.s.members[m.place] != m {
			c.t.Fatalf("member %d: got behind %v, acked %d, want %v, %d", i, m.Behind(), m.acked, owes, c.acked(m))
		}
	}
	if c.s.Members() != len(c.m) {
		c.t.Fatalf("got %d members, want %d", c.s.Members(), len(c.m))
	}
	if n > c.s.Unacked() {
		c.stats.holes++
	}
}

func runCast(t testing.TB, b []byte) *castModel {
	x := &calls{b}
	first := x.byte()
	r := newMembers(t, 0, func(k *BroadcastConfig) {
		k.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 384, Reserve: 64, Poison: true})
		k.Alone, k.Margin, k.Tolerance, k.AsKernel = first&2 != 0, int(first>>2), MinTolerance, first&1 != 0
	})
	c := &castModel{scriptedPeer: r, l: newLedger(r), owed: map[frame.Seq]map[*Member]bool{}}
	for len(x.b) > 0 {
		c.step(x)
		if e := c.s.TakeEvents(); e&^(Room|Stuck|Ask) != 0 || e&Ask != 0 && c.s.Unacked() == 0 {
			t.Fatalf("got event %q with %d under way", eventText(e), c.s.Unacked())
		}
		c.check()
		c.scriptedPeer.check(c.lent)
		if len(c.m) > 0 {
			c.l.check()
		}
	}
	for _, b := range c.lent {
		b.Complete()
	}
	for len(c.m) > 0 {
		c.leave(c.m[0])
	}
	r.done()
	return c
}

// FuzzBroadcastSender makes any sequence of calls: members come, go, tell the truth and
// lie; a packet is released exactly when nobody owes it, chunks are conserved, and every
// message leaves once, whole and in order.
//
// Proves: multicast.link
func FuzzBroadcastSender(f *testing.F) {
	f.Add([]byte{0, 4, 1, 0, 0, 60, 9, 9, 9, 12, 0, 7})
	f.Add([]byte("\x00\x04\x01\x04\x02\x00\x00\x27\x0c\x00\x05\x08\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) { runCast(t, b) })
}

// Proves: multicast.link
func TestBroadcastSenderUnderRandomCalls(t *testing.T) {
	n := 60
	if testing.Short() || raceEnabled {
		n = 15
	}
	var sum castModel
	for seed := range uint64(n) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		b := make([]byte, 3000)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		c := runCast(t, b)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		s := &sum.stats
		s.left += c.stats.left
		s.last += c.stats.last
		s.failed += c.stats.failed
		s.refused += c.stats.refused
		s.holes += c.stats.holes
		s.repeats += c.stats.repeats
	}
	t.Logf("%+v", sum.stats)
	if s := sum.stats; s.left <= s.last || s.last < n/10 || s.refused < n || s.holes < n || s.repeats < n || n == 60 && s.failed == 0 {
		t.Errorf("got %+v: something is hardly ever tried", s)
	}
}
