// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"slices"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
)

// unsettled are the numbers of the packets that were sent and the peer has not delivered.
func (r *scriptedPeer) unsettled() (seqs []int) {
	waiting := r.Backlog()
	for b := range r.Unsettled {
		seqs = append(seqs, int(must.Get(frame.Parse(b.Bytes()[frame.EthernetLen:])).Seq()))
	}
	return seqs[:len(seqs)-waiting]
}

// A peer that misses a packet has those behind it, and has not delivered them: should it die, they
// are lost. They are kept, however many they are (TestSpanIsLimited).
//
// Mutations: handleGap lets go of each packet that a block acknowledges, or of those beyond a window.
//
// Proves: link.gaps
func TestUnsettledBehindAGap(t *testing.T) {
	r := newGapAckPeer(t)
	r.send(5)
	r.seqs()
	r.report(0, 1, frame.GapBlock{Ack: 3})
	if got := r.unsettled(); !slices.Equal(got, span(1, 5)) || r.Unacked() != 3 {
		t.Errorf("1 is missing: %v, %d not acknowledged", got, r.Unacked())
	}
	r.report(3, 0)
	if got := r.unsettled(); !slices.Equal(got, span(4, 5)) {
		t.Errorf("it has come: %v", got)
	}
	r.done()

	r = newGapAckPeer(t)
	r.send(90)
	r.seqs()
	for _, ack := range []frame.Seq{41, 90} {
		r.report(0, 1, frame.GapBlock{Ack: ack})
		r.seqs()
	}
	if got := r.unsettled(); !slices.Equal(got, span(1, 90)) || r.Unacked() != 1 {
		t.Errorf("89 came behind a missing one: %v, %d not acknowledged", got, r.Unacked())
	}
	r.report(90, 0)
	if got := r.unsettled(); len(got) != 0 || !r.Idle() {
		t.Errorf("it has come: %v", got)
	}
	r.done()
}

// Of a message in several packets the first is kept until the peer has the last, and tells of it
// however much of the rest is acknowledged.
//
// Mutations: letGo recycles all; letGoFragment keeps the first for ever;
// clear does not let go of it.
//
// Proves: link.gaps
func TestUnsettledMessageInPart(t *testing.T) {
	pieces := func(r *scriptedPeer, n int) {
		var all []*netdev.Buffer
		for i := range n {
			f := frame.FragmentFields{Common: frame.Common{Prev: self}, Type: frame.MiddleFragment, Number: 1, Orig: self, Dest: peer}
			switch i {
			case 0:
				f.Type = frame.FirstFragment
			case n - 1:
				f.Type = frame.LastFragment
			}
			b := r.arena.Get(frame.EthernetLen+frame.IntLen+4, netdev.Data)
			b.Extend(frame.EthernetLen)
			f.Append(b.Extend(frame.IntLen + 4)[:0], make([]byte, 4))
			all = append(all, b)
		}
		if err := r.SendAll(r.now, all, frame.Low); err != nil {
			t.Fatal(err)
		}
		r.seqs()
	}
	want := func(r *scriptedPeer, what string, seqs ...int) {
		t.Helper()
		if got := r.unsettled(); !slices.Equal(got, seqs) {
			t.Errorf("%s: %v, want %v", what, got, seqs)
		}
	}
	r := newGapAckPeer(t)
	pieces(r, 3)
	r.send(1)
	r.seqs()
	want(r, "sent", 1, 2, 3, 4)
	r.report(1, 0)
	want(r, "the peer has the first", 1, 2, 3, 4)
	r.report(2, 0)
	want(r, "and the second", 1, 3, 4)
	r.report(3, 0)
	want(r, "and the last", 4)
	r.report(4, 0)
	pieces(r, 3)
	r.report(5, 1, frame.GapBlock{Ack: 7})
	want(r, "the second of another is missing", 5, 6, 7)
	r.report(7, 0)
	want(r, "it has come")
	pieces(r, 3)
	r.report(8, 0)
	r.done() // which leaves no chunk
}
