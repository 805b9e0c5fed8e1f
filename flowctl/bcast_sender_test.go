// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"bytes"
	"testing"
	"time"
	"unsafe"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// The packet of spec 04 §1.1, and nothing else of the message is changed.
func TestBroadcastSendStampsHeader(t *testing.T) {
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.FirstSeq = 0xfffe })
	defer r.done()
	r.rcvNxt = 77 // is acknowledged nowhere
	b := r.message(4)
	want := bytes.Clone(b.Bytes()[frame.EthernetLen:])
	r.s.Send(0, b, frame.Low)
	frame.StampBroadcast(want, 0xfffe, castNet)
	f := r.NextFrame()
	defer f.Release()
	if got := f.Bytes()[frame.EthernetLen:]; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	m, err := frame.Parse(f.Bytes()[frame.EthernetLen:])
	if err != nil || !m.NonSeq() || m.Seq() != 0xfffe || m.Ack() != 0 || m.BcastAck() != 0 || m.NetID() != castNet || m.Prev() != self {
		t.Errorf("got %x %v", m.Bytes(), err)
	}
	if to, ok := m.DestNode(); to != 0 || !ok {
		t.Errorf("got destination %v, want none", to)
	}
}

// 50 packets are under way, and the next follow as all members have acknowledged, not
// before.
//
// Proves: multicast.link
func TestBroadcastWindow(t *testing.T) {
	r := newMembers(t, 3)
	defer r.done()
	r.send(60)
	wantSeqs(t, "at first", r.seqs(), span(1, 50))
	r.memberAck(0, 20)
	r.memberAck(1, 16)
	wantSeqs(t, "two of three", r.seqs(), nil)
	r.wantUnder("two of three", 50, 10, 50)
	r.memberAck(2, 8)
	wantSeqs(t, "8 by all", r.seqs(), span(51, 58))
	r.memberAck(2, 30)
	wantSeqs(t, "16 by all", r.seqs(), span(59, 60))
	for i := range r.m {
		if !r.m[i].Behind() {
			t.Errorf("member %d is not behind", i)
		}
		r.memberAck(i, 60)
		if r.m[i].Behind() {
			t.Errorf("member %d is behind", i)
		}
	}
	r.wantUnder("at the end", 0, 0, 60)
	if !r.s.Idle() || r.s.SentPackets != 60 {
		t.Errorf("got idle %v, %d sent, want true, 60", r.s.Idle(), r.s.SentPackets)
	}
}

// The window is never more than 50, whatever is asked for, and counts from the oldest
// packet missing.
//
// Proves: multicast.link
func TestBroadcastWindowBounds(t *testing.T) {
	for _, c := range []struct{ ask, want int }{{0, 50}, {7, 7}, {50, 50}, {51, 50}, {8191, 50}, {-3, 1}} {
		r := newMembers(t, 1, func(k *BroadcastConfig) { k.Window = c.ask })
		if r.s.Window() != c.want {
			t.Errorf("configured %d: got %d, want %d", c.ask, r.s.Window(), c.want)
		}
		if r.s.SetWindow(0, max(c.ask, 1)); r.s.Window() != max(min(c.ask, 50), 1) {
			t.Errorf("set to %d: got %d", c.ask, r.s.Window())
		}
		r.done()
	}
	r := newMembers(t, 1)
	defer r.done()
	r.send(60)
	r.seqs()
	r.memberReport(0, 0, 1, frame.GapBlock{Ack: 50})
	r.wantUnder("one missing", 1, 10, 50)
	wantSeqs(t, "repeated alone", r.seqs(), span(1, 1))
	r.s.SetWindow(0, 5)
	r.memberAck(0, 50)
	wantSeqs(t, "narrower", r.seqs(), span(51, 55))
	r.s.SetWindow(0, 8)
	wantSeqs(t, "wider", r.seqs(), span(56, 58))
	if got := r.s.Limit(frame.Critical); got != 64 {
		t.Errorf("limit: got %d, want 8 times the window, 64", got)
	}
}

// Who joins answers for what is sent first from then on, also for what waited.
//
// Proves: multicast.link
func TestBroadcastJoinInTraffic(t *testing.T) {
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.Window = 3 })
	defer r.done()
	r.send(4)
	m := r.join()
	if m.Behind() {
		t.Error("behind at once")
	}
	r.memberAck(1, 2) // of before it came
	r.memberReport(1, 0, 3)
	r.wantOwing("joined", "[1:1 2:1 3:1]")
	r.memberAck(0, 2)
	r.send(1)
	r.wantOwing("more sent", "[3:1 4:2 5:2]")
	if !m.Behind() {
		t.Error("not behind")
	}
	r.memberAck(1, 5)
	r.wantOwing("acknowledged by the new one", "[3:1 4:1 5:1]")
	r.memberAck(0, 5)
	r.wantOwing("and the old one", "[]")
	r.out()
}

// Who leaves owes nothing any more, wherever it stood; the others still do.
//
// Proves: multicast.link
func TestBroadcastLeaveInTraffic(t *testing.T) {
	r := newMembers(t, 3, func(c *BroadcastConfig) { c.Window = 6 })
	defer r.done()
	r.send(8)
	r.seqs()
	r.memberAck(0, 5)
	r.memberReport(1, 1, 1, frame.GapBlock{Ack: 4})
	r.memberAck(2, 2)
	r.wantOwing("before", "[2:1 3:1 4:1 5:2 6:3 7:3]")
	r.s.Leave(0, r.m[1])
	r.wantOwing("one left", "[3:1 4:1 5:1 6:2 7:2 8:2]")
	r.s.Leave(0, r.m[1])
	r.memberAck(1, 8)
	r.memberReport(1, 7, 1)
	r.wantOwing("and does nothing", "[3:1 4:1 5:1 6:2 7:2 8:2]")
	if r.m[1].Behind() || r.s.Members() != 2 {
		t.Errorf("got behind %v, %d members, want false, 2", r.m[1].Behind(), r.s.Members())
	}
	r.s.Leave(0, r.m[2])
	r.wantOwing("another left", "[6:1 7:1 8:1]")
	r.memberAck(0, 8)
	r.wantUnder("acknowledged", 0, 0, 8)
	r.out()
}

// With the last member all goes, what waits and what has not left too. As a kernel,
// numbers begin anew; else they go on. Who was turned away has room.
//
// Proves: multicast.link
func TestBroadcastLastLeaves(t *testing.T) {
	for i, first := range []frame.Seq{0, 0xfff0, 0, 0xfff0} {
		kernel := i < 2
		r := newMembers(t, 2, func(c *BroadcastConfig) { c.FirstSeq, c.AsKernel = first, kernel })
		next := max(first, 1)
		if !kernel {
			next += 50
		}
		r.send(150)
		b := r.message(4)
		if err := r.s.Send(0, b, frame.Low); err != ErrCongested {
			t.Fatalf("got %v, want congested", err)
		}
		b.Release()
		r.s.Leave(0, r.m[0])
		r.wantUnder("one left", 50, 100, max(first, 1)+49)
		r.s.Leave(0, r.m[1])
		r.wantUnder("both left", 0, 0, next-1)
		if f := r.NextFrame(); f != nil {
			t.Errorf("first %d: a packet of before leaves", first)
		}
		if e := r.s.TakeEvents(); e != Room {
			t.Errorf("first %d: got %q, want room", first, eventText(e))
		}
		if got := r.s.TakeRoom()[frame.Low]; got != 100 {
			t.Errorf("first %d: got room for %d, want 100", first, got)
		}
		wantTimes(t, "asked with nobody there", r.asks(time.Minute))
		if d := r.s.Deadline(); d != Never {
			t.Errorf("first %d: got a deadline of %v, want none", first, d)
		}
		r.join()
		r.send(1)
		wantSeqs(t, "the next", r.seqs(), span(int(next), int(next)))
		r.memberAck(2, next)
		r.wantUnder("acknowledged", 0, 0, next)
		r.done()
	}
}

// Nothing of before the last left has an effect on who comes then: no room in a packet
// that is gone, no event, and the wait is as at first.
//
// Proves: multicast.link
func TestBroadcastBeginsAnew(t *testing.T) {
	const ms = time.Millisecond
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.Window, c.Alone = 1, false })
	defer r.done()
	r.send(3)
	r.s.Want(0, frame.Low) // so that the backlog is kept
	r.asks(20 * ms)
	r.now = r.s.Deadline()
	r.s.HandleTimeout(r.now) // it asks
	r.s.Leave(r.now, r.m[0])
	if e := r.s.TakeEvents(); e != 0 && e != Room {
		t.Errorf("got %q", eventText(e))
	}
	r.join()
	if r.s.Room(60, frame.Low) != nil {
		t.Error("room in a packet that is gone")
	}
	r.s.SetWindow(r.now, 50)
	r.send(1)
	began := r.now
	wantTimes(t, "asked", r.asks(began+11*ms), began+10*ms)
	r.memberAck(1, 1)
	r.discard()
}

// Without a member messages are taken, dropped and not numbered, by whichever way.
func TestBroadcastWithoutMembers(t *testing.T) {
	r := newMembers(t, 0)
	defer r.done()
	r.send(200)
	if err := r.s.SendAll(0, []*netdev.Buffer{r.message(1000), r.message(10)}, frame.High); err != nil {
		t.Error(err)
	}
	for range 150 {
		if err := r.s.Hold(r.message(4), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	r.s.Flush(0)
	r.wantUnder("dropped", 0, 0, 0)
	if r.s.Unheard != 352 || r.NextFrame() != nil || r.s.SentPackets != 0 || r.s.Deadline() != Never {
		t.Errorf("got %d unheard, %d sent, deadline %v; want 352, 0, never", r.s.Unheard, r.s.SentPackets, r.s.Deadline())
	}
	if free := r.arena.Free(); free != r.arena.Total() {
		t.Errorf("got %d chunks free, want %d", free, r.arena.Total())
	}
}

// Messages that wait share packets; the packet is of the broadcast link, what is in it
// is not, and one message goes to all that are there when it leaves.
func TestBroadcastBundles(t *testing.T) {
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.Window, c.Margin, c.Alone = 1, 32, false })
	defer r.done()
	r.send(1)
	r.discard()
	r.send(3)
	n := frame.McastLen + 4
	room := r.s.Room(n, frame.Low)
	if room == nil {
		t.Fatal("no room")
	}
	mcast.Put(room, 4)
	clear(room[frame.McastLen:])
	r.join()
	r.memberAck(0, 1)
	f := r.NextFrame()
	if f == nil {
		t.Fatal("nothing left")
	}
	defer f.Release()
	all := r.messages(f.Bytes()[frame.EthernetLen:])
	p, _ := frame.Parse(f.Bytes()[frame.EthernetLen:])
	if len(all) != 4 || !p.NonSeq() || p.NetID() != castNet || p.Seq() != 2 {
		t.Errorf("got %d messages in %x", len(all), p.Bytes())
	}
	if to, _ := p.DestNode(); to != 0 {
		t.Errorf("got destination %v, want none", to)
	}
	for _, m := range all {
		if m.NonSeq() || m.NetID() != 0 || m.Seq() != 0 || len(m.Bytes()) != n {
			t.Errorf("got %x inside", m.Bytes())
		}
	}
	r.wantOwing("sent", "[2:2]")
	if r.s.SentBundles != 1 || r.s.SentBundled != 4 {
		t.Errorf("got %d bundles of %d counted, want 1 of 4", r.s.SentBundles, r.s.SentBundled)
	}
	if got := r.s.PacketLimit(); got != 1500-40-32 {
		t.Errorf("packet limit: got %d, want 1428", got)
	}
}

// What is held goes with Flush.
func TestBroadcastHold(t *testing.T) {
	r := newMembers(t, 1)
	defer r.done()
	for range 3 {
		if err := r.s.Hold(r.message(4), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	wantSeqs(t, "held", r.seqs(), nil)
	r.s.FlushFull(0)
	wantSeqs(t, "all but the last", r.seqs(), span(1, 2))
	r.s.Flush(0)
	wantSeqs(t, "the last", r.seqs(), span(3, 3))
}

// The packets of one message are taken all or not at all, and follow each other.
func TestBroadcastFragments(t *testing.T) {
	r := newMembers(t, 2, func(c *BroadcastConfig) { c.Window = 2 })
	defer r.done()
	pieces := func() (b []*netdev.Buffer) {
		for range 3 {
			b = append(b, r.message(1300))
		}
		return b
	}
	if err := r.s.SendAll(0, pieces(), frame.Low); err != nil {
		t.Fatal(err)
	}
	wantSeqs(t, "at first", r.seqs(), span(1, 2))
	r.wantUnder("at first", 2, 1, 2)
	for r.s.Vacant(frame.Low) > 0 {
		r.send(1)
	}
	more := pieces()
	if err := r.s.SendAll(0, more, frame.Low); err != ErrCongested {
		t.Errorf("got %v, want congested", err)
	}
	for _, b := range more {
		b.Release()
	}
	waited := r.s.Backlog()
	r.memberAck(0, 2)
	r.memberAck(1, 2)
	wantSeqs(t, "then", r.seqs(), span(3, 4))
	if got := waited - r.s.Backlog(); got != 2 || r.s.TakeEvents()&Room == 0 {
		t.Errorf("got %d taken from the backlog, want 2 and an event", got)
	}
	if r.s.SentFragmented != 1 || r.s.SentFragments != 3 {
		t.Errorf("got %d in %d fragments counted, want 1 in 3", r.s.SentFragmented, r.s.SentFragments)
	}
}

// A new MTU is for what is built from then on.
func TestBroadcastMTU(t *testing.T) {
	r := newMembers(t, 1, func(c *BroadcastConfig) { c.Window = 1 })
	defer r.done()
	r.send(1)
	for range 2 {
		if err := r.s.Send(0, r.message(1400), frame.Low); err != nil {
			t.Fatal(err)
		}
	}
	r.s.SetMTU(1000)
	r.s.SetMTU(0)
	if r.s.MTU() != 1000 {
		t.Errorf("got %d, want 1000", r.s.MTU())
	}
	long := r.message(1400)
	if err := r.s.Send(0, long, frame.Low); err != ErrTooLong {
		t.Errorf("got %v, want too long", err)
	}
	long.Release()
	for i := range frame.Seq(3) {
		r.memberAck(0, i+1)
	}
	r.wantUnder("what waited", 0, 0, 3)
	r.out()
}

// There may be thousands of members, and of packets under way very many.
func TestBroadcastSizes(t *testing.T) {
	if got := unsafe.Sizeof(Member{}); got > 32 {
		t.Errorf("a member has %d bytes, want at most 32", got)
	}
	if got := unsafe.Sizeof(sent{}); got > 32 {
		t.Errorf("a packet under way has %d bytes, want at most 32", got)
	}
	if got := unsafe.Sizeof(Link{}); got > 568 { // and 8 of the allocator: a size class of its own
		t.Errorf("a link has %d bytes, want at most 568", got)
	}
}

// Memory that a burst needed is given back, and then nothing is due.
func TestBroadcastForgets(t *testing.T) {
	r := newMembers(t, 1)
	defer r.done()
	r.send(120)
	r.discard()
	for i := range frame.Seq(3) {
		r.memberAck(0, min(50*(i+1), r.s.Last()))
		r.discard()
	}
	r.asks(time.Minute)
	if r.transmit.ring != nil || r.backlog != nil || r.s.Deadline() != Never {
		t.Errorf("got %d places, backlog %v, deadline %v", len(r.transmit.ring), r.backlog, r.s.Deadline())
	}
}

// A link that is idle for a moment between messages keeps its memory and its ticks, so that
// the next message allocates nothing: both go after an interval in which nothing was sent.
//
// Mutations it catches, in BroadcastSender.tick: without the comparison of sndNxt with the
// checkpoint; with its opposite; without keeping the checkpoint.
func TestBroadcastForgetsAfterAnInterval(t *testing.T) {
	r := newMembers(t, 1)
	defer r.done()
	for i := range 3 {
		r.send(1)
		r.discard()
		r.memberAck(0, r.s.Last())
		r.asks(r.s.next + 1)
		if !r.s.Idle() || r.transmit.ring == nil || r.s.Deadline() == Never {
			t.Errorf("message %d sent: got idle %v, %d places, deadline %v; want idle, with places and a tick",
				i, r.s.Idle(), len(r.transmit.ring), r.s.Deadline())
		}
	}
	r.asks(r.s.next + 1)
	if r.transmit.ring != nil || r.s.Deadline() != Never {
		t.Errorf("nothing sent: got %d places, deadline %v; want none", len(r.transmit.ring), r.s.Deadline())
	}
}
