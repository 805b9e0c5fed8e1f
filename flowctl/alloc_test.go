// SPDX-License-Identifier: Apache-2.0

//go:build !race

package flowctl

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// wantNoAllocs runs f often and expects that it allocates nothing.
func wantNoAllocs(t *testing.T, f func()) {
	t.Helper()
	for range 200 {
		f() // rings grow to what they need
	}
	if got := testing.AllocsPerRun(500, f); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// Proves: poll.allocations
func TestNoAllocsSendAndAck(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	src := r.message(100)
	defer src.Release()
	ack := parseLink(t, r.stateMsg(nil))
	seq := r.state - 1
	wantNoAllocs(t, func() {
		for range 10 {
			b := r.arena.Get(src.Len(), netdev.Data)
			copy(b.Extend(src.Len()), src.Bytes())
			if r.Send(r.now, b, frame.Low) != nil {
				t.Fatal("not sent")
			}
		}
		r.discard()
		seq++
		frame.StampSeq(ack.Bytes(), seq)
		frame.StampAcks(ack.Bytes(), r.sndNxt-1, 0)
		if !r.Accept(ack) {
			t.Fatal("not accepted")
		}
		r.HandleLink(r.now, ack)
		if !r.Idle() {
			t.Fatal("not acknowledged")
		}
	})
}

// Messages that share packets: by Send behind a full window, by Hold, and written
// straight into their place.
//
// Proves: link.bundles
func TestNoAllocsBundles(t *testing.T) {
	for _, way := range []string{"Send", "Hold", "Room"} {
		r := newScriptedPeer(t, func(c *Config) { c.Alone, c.MinWindow, c.MaxWindow = false, 4, 4 }).up()
		src := r.message(100)
		wantNoAllocs(t, func() {
			for i := range 60 {
				if way == "Room" {
					if room := r.Room(src.Len()-frame.EthernetLen, frame.Low); room != nil {
						copy(room, src.Bytes()[frame.EthernetLen:])
						continue
					}
				}
				b := r.arena.Get(src.Len(), netdev.Data)
				copy(b.Extend(src.Len()), src.Bytes())
				var err error
				if way == "Hold" || i == 0 {
					err = r.Hold(b, frame.Low)
				} else {
					err = r.Send(r.now, b, frame.Low)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for r.Flush(r.now); !r.Idle(); r.handleAck(r.now, r.sndNxt-1, 0, frame.GapBlocks{}) {
				r.discard()
			}
			r.discard()
		})
		if r.SentBundled < r.SentPackets {
			t.Errorf("%s: got %d messages in bundles, want most", way, r.SentBundled)
		}
		src.Release()
		r.done()
	}
}

// Proves: poll.allocations
func TestNoAllocsHandlePacket(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	m, b := r.packet(1, 0, "data")
	defer b.Release()
	wantNoAllocs(t, func() {
		stamp(b, r.rcvNxt, r.sndNxt-1)
		if r.HandlePacket(r.now, m, b) != Deliver {
			t.Fatal("not delivered")
		}
		if _, ok := r.Next(r.now); ok {
			t.Fatal("something more")
		}
		r.discard()
	})
}

// A packet that comes early, the report, and the repetition at the other end.
//
// Proves: poll.allocations
func TestNoAllocsLossAndRepair(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	src := r.message(100)
	defer src.Release()
	var ms [4]frame.Message
	var bs [4]*netdev.Buffer
	for i := range ms {
		ms[i], bs[i] = r.packet(1, 0, "data")
		defer bs[i].Release()
	}
	wantNoAllocs(t, func() {
		for i, at := range [4]frame.Seq{1, 2, 3, 0} {
			stamp(bs[i], r.rcvNxt+at, r.sndNxt-1)
		}
		for i := range ms {
			if r.HandlePacket(r.now, ms[i], bs[i]) == Deliver {
				for p, ok := r.Next(r.now); ok; p, ok = r.Next(r.now) {
					p.Release()
				}
			}
		}
		for range 3 {
			b := r.arena.Get(src.Len(), netdev.Data)
			copy(b.Extend(src.Len()), src.Bytes())
			r.Send(r.now, b, frame.Low)
		}
		r.now += time.Millisecond
		r.handleAck(r.now, r.sndNxt-4, 2, frame.GapBlocks{})
		r.handleAck(r.now, r.sndNxt-1, 0, frame.GapBlocks{})
		r.discard()
	})
	if r.Retransmits == 0 || r.Counters.Deferred == 0 {
		t.Error("nothing was repeated or deferred")
	}
}

func TestNoAllocsTick(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	wantNoAllocs(t, func() {
		r.sup.silent = 0
		r.now = r.Deadline()
		r.HandleTimeout(r.now)
		r.discard()
	})
}

func BenchmarkSendAndAck(b *testing.B) {
	r := newScriptedPeer(b).up()
	src := r.message(64)
	for b.Loop() {
		c := r.arena.Get(src.Len(), netdev.Data)
		copy(c.Extend(src.Len()), src.Bytes())
		r.Send(0, c, frame.Low)
		r.discard()
		r.handleAck(0, r.sndNxt-1, 0, frame.GapBlocks{})
	}
}

func BenchmarkHandlePacket(b *testing.B) {
	r := newScriptedPeer(b).up()
	m, buf := r.packet(1, 0, "data")
	for b.Loop() {
		stamp(buf, r.rcvNxt, 0)
		r.HandlePacket(0, m, buf)
		r.discard()
	}
}

// What a message costs that shares its packet with about nine others.
func BenchmarkHoldAndFlush(b *testing.B) {
	r := newScriptedPeer(b, func(c *Config) { c.Alone = false }).up()
	src := r.message(64)
	msg := src.Bytes()[frame.EthernetLen:]
	for i := 0; b.Loop(); i++ {
		if room := r.Room(len(msg), frame.Low); room != nil {
			copy(room, msg)
			continue
		}
		r.Flush(0)
		r.discard()
		r.handleAck(0, r.sndNxt-1, 0, frame.GapBlocks{})
		c := r.arena.Get(src.Len(), netdev.Data)
		copy(c.Extend(src.Len()), src.Bytes())
		r.Hold(c, frame.Low)
	}
}
