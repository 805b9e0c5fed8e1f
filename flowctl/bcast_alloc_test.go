// SPDX-License-Identifier: Apache-2.0

//go:build !race

package flowctl

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Sending to three members, a loss, its report and repetition, and all acknowledgements.
func TestNoAllocsBroadcast(t *testing.T) {
	r := newMembers(t, 3)
	defer r.done()
	src := r.message(100)
	defer src.Release()
	blocks := make([]byte, 8)
	wantNoAllocs(t, func() {
		last := r.s.Last()
		for range 60 {
			b := r.arena.Get(src.Len(), netdev.Data)
			copy(b.Extend(src.Len()), src.Bytes())
			if r.s.Send(r.now, b, frame.Low) != nil {
				t.Fatal("not sent")
			}
		}
		r.discard()
		r.now += time.Millisecond
		ack := last + 50
		copy(blocks, []byte{0, 8, 0, 1, byte(ack >> 8), byte(ack), 0, 0})
		g, _, _ := frame.ParseGapAcks(blocks)
		r.s.HandleReport(r.now, r.m[0], last+9, 3, g.Bcast())
		for _, m := range r.m {
			r.s.HandleAck(r.now, m, last+16)
			r.s.HandleAck(r.now, m, last+50)
		}
		for _, m := range r.m {
			r.s.HandleAck(r.now, m, r.s.Last())
		}
		r.discard()
		r.s.HandleTimeout(r.now)
		if r.s.TakeEvents(); !r.s.Idle() {
			t.Fatal("not acknowledged")
		}
	})
	if r.s.Retransmits == 0 {
		t.Error("nothing was repeated")
	}
}

// BenchmarkBroadcastSendAndAck is a message to so many members, and their acknowledgements,
// one for each 16 messages.
func BenchmarkBroadcastSendAndAck(b *testing.B) {
	for _, n := range []int{1, 3, 100, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newMembers(b, n, func(c *BroadcastConfig) { c.Arena = netdev.NewArena(netdev.ArenaConfig{Small: 1024}) })
			src := r.message(64)
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				c := r.arena.Get(src.Len(), netdev.Data)
				copy(c.Extend(src.Len()), src.Bytes())
				r.s.Send(0, c, frame.Low)
				r.discard()
				if i%16 == 0 {
					for _, m := range r.m {
						r.s.HandleAck(0, m, r.s.Last())
					}
				}
			}
		})
	}
}
