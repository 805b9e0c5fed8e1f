// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// Proves: link.order
func TestAckEverySixteen(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	var at []int
	for i := 1; i <= 50; i++ {
		r.receive(frame.Seq(i), 0)
		for _, l := range r.out() {
			at = append(at, i)
			if want := fmt.Sprintf("link/state next=1 session=100 seq=%d ack=%d", 1+len(at), i); l != want {
				t.Errorf("got %q, want %q", l, want)
			}
		}
	}
	if want := []int{16, 32, 48}; !slices.Equal(at, want) {
		t.Errorf("acknowledged behind packets %v, want %v", at, want)
	}
	if r.SentAcks != 3 {
		t.Errorf("counted: got %v, want 3", r.SentAcks)
	}
}

// Whatever carries an acknowledgement begins the count again (spec 02 §4.2 item 3).
func TestDataAndStateClearWhatIsOwed(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *scriptedPeer)
	}{
		{"data sent", func(r *scriptedPeer) { r.send(1) }},
		{"STATE sent", func(r *scriptedPeer) { r.Report(0) }},
	} {
		r := newScriptedPeer(t).up()
		for i := range 15 {
			r.receive(frame.Seq(1+i), 0)
		}
		c.do(r)
		r.out()
		for i := range 15 {
			r.receive(frame.Seq(16+i), 0)
		}
		if got := r.out(); got != nil {
			t.Errorf("%s: got %q, want nothing yet", c.name, got)
		}
		r.receive(31, 0)
		if got := r.out(); len(got) != 1 {
			t.Errorf("%s: got %q, want one STATE", c.name, got)
		}
		r.done()
	}
}

// NACK when 3, 19, 35 ... packets are deferred (spec 02 §4.2 item 4), for numbers
// that wrap and others.
//
// Proves: link.order
func TestNackByDeferredLength(t *testing.T) {
	for _, next := range []frame.Seq{1, 65530, 65535, 0} {
		r := newScriptedPeer(t).up().at(1, next)
		var at []int
		for i := 1; i <= 60; i++ {
			if v := r.receive(next+1+frame.Seq(i), 0); v != Deferred {
				t.Fatalf("packet %d: got %v, want deferred", i, v)
			}
			for _, l := range r.out() {
				at = append(at, i)
				if want := fmt.Sprintf("link/state gap=2 next=1 session=100 seq=%d ack=%d", 1+len(at), next-1); l != want {
					t.Errorf("got %q, want %q", l, want)
				}
			}
		}
		if want := []int{3, 19, 35, 51}; !slices.Equal(at, want) {
			t.Errorf("expecting %d: reported at lengths %v, want %v", next, at, want)
		}
		if r.SentNacks != 4 {
			t.Errorf("counted: got %v, want 4", r.SentNacks)
		}
		r.receive(next, 0)
		r.receive(next+1, 0)
		if got := len(r.got); got != 62 || r.Look().Deferred != 0 || r.Look().DeferredBytes != 0 {
			t.Errorf("delivered %d, %d left with %d bytes, want 62, 0, 0", got, r.Look().Deferred, r.Look().DeferredBytes)
		}
		r.done()
	}
}

// Proves: link.order
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		in, out  string
		verdicts string // of each packet: D delivered, e deferred, x dropped
		dup      uint64
	}{
		{"1 2 3", "1 2 3", "DDD", 0},
		{"2 1 3", "1 2 3", "eDD", 0},
		{"3 2 1", "1 2 3", "eeD", 0},
		{"1 1 2 2", "1 2", "DxDx", 2},
		{"3 3 1 2", "1 2 3", "exDD", 1},
		{"5 3 4 3 1 2 5", "1 2 3 4 5", "eeexDDx", 2},
		{"0 65535 1", "1", "xxD", 2},
		{"8192 8193 1", "1", "exD", 1}, // 8191 ahead is the last that is taken
		{"2 4 6 1 3 5", "1 2 3 4 5 6", "eeeDDD", 0},
	} {
		for _, next := range []frame.Seq{1, 65533} {
			r := newScriptedPeer(t).up().at(1, next)
			var v strings.Builder
			for _, s := range strings.Fields(c.in) {
				var n int
				fmt.Sscan(s, &n)
				v.WriteByte("xeD"[r.receive(next-1+frame.Seq(n), 0)])
			}
			var got []string
			for _, s := range r.got {
				var n int
				fmt.Sscan(s, &n)
				got = append(got, fmt.Sprint(frame.Seq(n)-(next-1)))
			}
			if strings.Join(got, " ") != c.out || v.String() != c.verdicts || r.Duplicates != c.dup {
				t.Errorf("%s, from %d: got %v, %v, %d duplicates; want %v, %v, %d", c.in, next, got, v.String(), r.Duplicates, c.out, c.verdicts, c.dup)
			}
			r.done()
		}
	}
}

// A packet brings no news of the sender before its own place was checked.
func TestAckInDuplicateIsIgnored(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	r.send(3)
	r.receive(0, 3)
	if got := r.Unacked(); got != 3 {
		t.Errorf("got %v unacknowledged, want 3", got)
	}
	r.receive(5, 2) // deferred, but its acknowledgement counts
	if got := r.Unacked(); got != 1 {
		t.Errorf("got %v unacknowledged, want 1", got)
	}
}

func TestPacketEndsSilence(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	for _, seq := range []frame.Seq{1, 9, 0} {
		r.sup.silent = 4
		r.receive(seq, 0)
		if r.sup.silent != 0 {
			t.Errorf("packet %d: got %v silent intervals, want 0", seq, r.sup.silent)
		}
	}
}

// Beyond 64 packets of a peer deferred packets leave the arena (spec 02 §8: bound
// the bytes too).
func TestDeferredPacketsAreBounded(t *testing.T) {
	r := newScriptedPeer(t).up()
	for i := range 500 {
		r.receive(frame.Seq(2+i), 0)
	}
	r.out()
	if got, want := r.arena.Total()-r.arena.Free(), maxLent; got != want {
		t.Errorf("chunks held: got %v, want %v", got, want)
	}
	if got := r.Look().DeferredBytes; got > MaxDeferredBytes || got < 500*frame.BasicLen {
		t.Errorf("bytes: got %v, want at most %v", got, MaxDeferredBytes)
	}
	r.receive(1, 0)
	if len(r.got) != 501 || !slices.IsSortedFunc(r.got, func(a, b string) int { return len(a)*1000 - len(b)*1000 }) {
		t.Errorf("delivered %d, want 501 in order", len(r.got))
	}
	r.out()
	r.bytes = MaxDeferredBytes
	if v := r.receive(600, 0); v != Dropped || r.NoChunk != 1 {
		t.Errorf("over the limit: got %v, %d counted; want dropped, 1", v, r.NoChunk)
	}
	r.bytes = 0
	r.done()
}

func TestNextStopsWithTheLink(t *testing.T) {
	r := newScriptedPeer(t).up()
	defer r.done()
	for _, s := range []frame.Seq{2, 3} {
		r.receive(s, 0)
	}
	m, b := r.packet(1, 0, "1")
	defer b.Release()
	if v := r.HandlePacket(0, m, b); v != Deliver {
		t.Fatalf("got %v, want deliver", v)
	}
	r.Fail() // what the delivery of 1 may do
	if _, ok := r.Next(0); ok {
		t.Error("a failed link delivers")
	}
}
