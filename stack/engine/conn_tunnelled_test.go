// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// What a failover has brought in part counts as a whole, wherever the survivor fails: a message in
// fragments, a packet in pieces, and fragments in pieces.
//
// Mutations: letGoTunnelled keeps nothing; it keeps a packet that is in pieces, or a message that is
// in fragments, no longer than its first packet; it lets go of nothing.
// Proves: link.gaps
func TestUnsentWhenTheSurvivorFails(t *testing.T) {
	for come := range 40 {
		lost, tunnelled := false, 0
		b := newTwoLinkBed(t, nil, func(from int, f []byte) bool {
			if from == 1 || !lost {
				return false
			}
			if frame.UserOf(f[frame.EthernetLen:]) == frame.UserTunnel {
				tunnelled++
				return tunnelled > come
			}
			return tunnelled == 0
		})
		x, y, l := b.pair(ConnConfig{})
		b.settle()
		b.until(longTime, func() bool { return b.x.Unsent() == 0 })
		lost = true
		all := 0
		for _, n := range []int{1000, 8000, 20, 1300, 7000} {
			if err := x.Write(b.now, text(n, 0)); err != nil {
				t.Fatal(err)
			}
			all += n
		}
		b.x.SetMTU(b.now, 0, 0)
		survivor := b.x.nodes[0].slots[0]
		sent := survivor.Unacked()
		b.until(longTime, func() bool { return survivor.Unacked() == sent-min(come, sent) })
		b.x.SetMTU(b.now, 1, 0)
		b.until(longTime, func() bool { return x.State() == Ended && y.State() == Ended })
		got := 0
		for buf := make([]byte, 10000); ; {
			_, size, ok := y.Read(b.now, buf)
			if !ok {
				break
			}
			got += size
		}
		if x.Unsent() != all-got {
			t.Errorf("%d of %d packets came: %d bytes unsent, though %d of %d were read", come, sent, x.Unsent(), got, all)
		}
		lost = false
		for _, c := range []*Conn{x, y} {
			c.Close(b.now)
		}
		l.Close(b.now)
		b.clean()
	}
}
