// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"testing"

	"github.com/utipc/utipc/frame"
)

// More packets than the peer can be told of go through no tunnel, nor does a second link
// come up beside them: their last number would lie behind the first.
func TestTooManyForATunnel(t *testing.T) {
	for _, c := range []struct{ size, n int }{{100, MaxTunnelled}, {1460, MaxTunnelled/25 + 1}} { // the larger go in 25 pieces
		T, L := twoLinks(t, frame.CapTunnelEnhanced, 100)
		b := L.message(c.size)
		for range c.n {
			b.Hold()
			L.needBacklog().Push(waiting{b, frame.Low})
		}
		b.Release()
		if c.n >= MaxTunnelled {
			T.SendSynch(0, L.Link)
			if T.IsUp() || len(T.out()) > 0 {
				t.Errorf("%d packets of %d bytes: the second link is %v", c.n, c.size, T.State())
			}
			T.Link.state = Established
		}
		L.fail(OwnDecision)
		if err := T.SendFailover(0, L.Link); err != ErrTunnel || T.SentPackets > 0 {
			t.Errorf("%d packets of %d bytes: got %v, %d sent", c.n, c.size, err, T.SentPackets)
		}
		doneBoth(T, L)
	}
}

// What waits in a tunnel takes no room from what this link has to send: after a failover
// the nodes can still speak to each other.
func TestTunnelTakesNoRoom(t *testing.T) {
	T, L := twoLinks(t, frame.CapTunnelEnhanced, 1500)
	T.mtu = 9000 // little room for System
	T.SetWindow(0, 1, 1)
	L.SetWindow(0, 100, 100)
	L.send(300)
	L.discard()
	L.fail(OwnDecision)
	if err := T.SendFailover(0, L.Link); err != nil {
		t.Fatal(err)
	}
	if got, limit := T.Backlog(), T.Limit(frame.System); got <= limit {
		t.Fatalf("%d wait, %d have room: nothing is shown", got, limit)
	}
	if err := T.Send(0, T.message(4), frame.System); err != nil || T.TakeEvents()&Stuck != 0 {
		t.Errorf("after a failover: got %v", err)
	}
	for ack := frame.Seq(1); T.Backlog() > 0; ack++ {
		T.ack(ack, 0)
	}
	doneBoth(T, L)
}
