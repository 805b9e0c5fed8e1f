// SPDX-License-Identifier: Apache-2.0

package tipc_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/bench/load/tipc"
	"github.com/utipc/utipc/test/tier"
)

// ends opens two nodes on a network in memory.
func ends(t *testing.T, c tipc.Config) (a, b *tipc.End) {
	t.Helper()
	h := hub.New(hub.Config{})
	var e [2]*tipc.End
	var peer string
	for _, i := range []int{1, 0} {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		c.Dev, c.End = p, i
		if e[i], err = tipc.Open(t.Context(), c, peer); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e[i].Close() })
		peer = e[i].Info().Socket
	}
	return e[0], e[1]
}

func TestNode(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Wait: stack.Adaptive})
	loadtest.Check(t, a, b, load.Job{Size: 64, For: 20 * time.Millisecond})
}

// Round trips may be calls that an active port answers.
func TestCall(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Call: true})
	loadtest.Check(t, a, b, load.Job{Size: 64, For: 20 * time.Millisecond})
}

// What goes one way may do so without a copy.
func TestBuffers(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Buffers: true})
	loadtest.Check(t, a, b, load.Job{Size: 5000, For: 20 * time.Millisecond})
}

// A node that sends each message in a frame of its own has sent a frame each.
func TestSingle(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Single: true})
	sent, _ := loadtest.Run(t, a, b, true, load.Job{Size: 64, For: 20 * time.Millisecond})
	if sent.Frames < sent.Count-200 { // what waits for the window
		t.Errorf("got %d frames for %d messages", sent.Frames, sent.Count)
	}
}

// What is offered beyond what can be sent is not waited for.
func TestOffer(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Datagram: true})
	for _, rate := range []float64{1000, 1e8} {
		sent, got := loadtest.Run(t, a, b, true, load.Job{Size: 64, For: 100 * time.Millisecond, Offered: rate})
		offered := float64(sent.Offered) / sent.Elapsed.Seconds()
		// Who is held up offers less: nobody catches up.
		if sent.Offered == 0 || offered > 2*rate {
			t.Errorf("got %.0f offered a second, want %.0f", offered, rate)
		}
		if sent.Count > sent.Offered || got.Count > sent.Count {
			t.Errorf("offered %d, sent %d, received %d", sent.Offered, sent.Count, got.Count)
		}
		if rate == 1e8 && sent.Count > sent.Offered/2 {
			t.Errorf("%d of %d were sent: no overload", sent.Count, sent.Offered)
		}
	}
}

// The shortest messages belong to their round, too.
func TestOneByte(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Wait: stack.Adaptive})
	loadtest.Check(t, a, b, load.Job{Size: 1, For: 20 * time.Millisecond})
}

// A message that is timed says when it was due.
func TestTimed(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t, tipc.Config{Wait: stack.Adaptive})
	sent, got := loadtest.Run(t, a, b, true, load.Job{Size: 64, For: 50 * time.Millisecond, Offered: 2000, Timed: true})
	if got.P50 <= 0 || got.P99 < got.P50 || len(got.Quantiles) != len(load.Fractions) || got.Count == 0 || got.Count > sent.Count {
		t.Errorf("sent %+v, got %+v", sent, got)
	}
}

// Proves: bench.loads
func TestRefusals(t *testing.T) {
	a, _ := ends(t, tipc.Config{})
	for _, j := range []load.Job{{Kind: load.Send}, {Kind: load.Send, Size: frame.MaxPayload + 1}, {Kind: load.Send, Size: load.TimedSize - 1, Timed: true}} {
		if _, err := a.Run(t.Context(), j); err == nil {
			t.Errorf("%+v: got no error", j)
		}
	}
	if _, err := a.Run(t.Context(), load.Job{Kind: "dance", Size: 64}); err == nil {
		t.Error("an unknown kind: got no error")
	}
}
