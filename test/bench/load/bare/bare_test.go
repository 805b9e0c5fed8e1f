// SPDX-License-Identifier: Apache-2.0

package bare_test

import (
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/bare"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/tier"
)

// ends opens two ends on a network in memory.
func ends(t *testing.T) (a, b *bare.End) {
	t.Helper()
	h := hub.New(hub.Config{})
	var e [2]*bare.End
	var peer frame.MAC
	for _, i := range []int{1, 0} {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if e[i], err = bare.Open(p, load.Info{}, peer); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e[i].Close() })
		peer = p.Addr()
	}
	return e[0], e[1]
}

func TestFrames(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t)
	loadtest.Check(t, a, b, load.Job{Size: 64, For: 20 * time.Millisecond})
}

func TestBundles(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	a, b := ends(t)
	loadtest.Check(t, a, b, load.Job{Size: 64, Per: bare.PerFrame(1500, 64), For: 20 * time.Millisecond})
}

func TestPerFrame(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, c := range []struct{ mtu, size, want int }{{1500, 64, 17}, {3506, 64, 39}, {1500, 65, 16}, {1500, 1476, 1}, {1500, 1477, 0}} {
		if got := bare.PerFrame(c.mtu, c.size); got != c.want {
			t.Errorf("%d bytes in %d: got %d, want %d", c.size, c.mtu, got, c.want)
		}
	}
}

// A frame that the device cannot take, or that has no room for its round, is
// refused.
func TestSizes(t *testing.T) {
	a, _ := ends(t)
	for _, size := range []int{0, 3, 1501} {
		if _, err := a.Run(t.Context(), load.Job{Kind: load.Send, Size: size}); err == nil {
			t.Errorf("frames of %d bytes: got no error", size)
		}
	}
	if _, err := a.Run(t.Context(), load.Job{Kind: "dance", Size: 64}); err == nil {
		t.Error("an unknown kind: got no error")
	}
}
