// SPDX-License-Identifier: Apache-2.0

package gcm

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/tier"
)

// stations are two devices of one network, the first of which is counted.
func stations(t *testing.T) (c *Census, devs [2]netdev.Device, arena *netdev.Arena) {
	t.Helper()
	h := hub.New(hub.Config{})
	arena = netdev.NewArena(netdev.ArenaConfig{Small: 256})
	for i := range devs {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		devs[i] = p
		if i == 0 {
			c, devs[0] = Count(p)
		}
		if err := devs[i].Attach(arena, func() {}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { devs[i].Close() })
	}
	return c, devs, arena
}

// Sealed frames are counted by length, each way; plain ones are not.
//
// Proves: bench.tables
func TestCensus(t *testing.T) {
	c, devs, arena := stations(t)
	_, peeked := devs[1].(netdev.Peeker)
	if _, now := devs[0].(netdev.Peeker); now != peeked {
		t.Errorf("peeked at: got %v, want %v as without", now, peeked)
	}
	carry := func(from, to int, first byte, n int) {
		b := arena.Get(frame.EthernetLen+n, netdev.Data)
		x := b.Extend(frame.EthernetLen + n)
		frame.PutEthernet(x, devs[to].Addr(), devs[from].Addr())
		x[frame.EthernetLen] = first
		if k, err := devs[from].Transmit([]*netdev.Buffer{b}); k != 1 || err != nil {
			t.Fatalf("sent %d, %v", k, err)
		}
		b.Release()
		in := make([]*netdev.Buffer, 4)
		k, err := devs[to].Receive(in)
		if k != 1 || err != nil {
			t.Fatalf("received %d, %v", k, err)
		}
		in[0].Release()
	}
	before := c.Tally()
	carry(0, 1, 7<<5, 112)
	carry(0, 1, 7<<5, 112)
	carry(0, 1, 2<<5, 112)
	carry(1, 0, 7<<5|1, 72)
	middle := c.Tally()
	carry(1, 0, 2<<5, 72)
	carry(1, 0, 7<<5, 1500)
	got := middle.Since(before)
	if len(got.Out) != 1 || got.Out[112] != 2 || len(got.In) != 1 || got.In[72] != 1 || got.Frames() != 3 {
		t.Errorf("got %v", got)
	}
	if got := c.Tally().Since(middle); len(got.Out) != 0 || len(got.In) != 1 || got.In[1500] != 1 {
		t.Errorf("afterwards: got %v", got)
	}
}

// Every frame has its price: a seal for what left, an open for what came; lengths beyond
// those that are measured cost as the next longer one, or the longest.
//
// Proves: bench.tables
func TestCost(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	asked := map[int]int{}
	of := func(n int) (seal, open float64) {
		asked[n]++
		return float64(n), float64(10 * n)
	}
	few := Tally{Out: map[int]uint64{112: 3, 72: 1}, In: map[int]uint64{112: 2}}
	if got, want := few.cost(of), 3*112.+72+2*1120; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	many := Tally{Out: map[int]uint64{}}
	for i := range measured {
		many.Out[1000+10*i] = 2
	}
	many.Out[1005], many.Out[5000] = 1, 1
	clear(asked)
	want := 1010. + 1000 + 10*(measured-1) // the two rare ones
	for i := range measured {
		want += 2 * float64(1000+10*i)
	}
	if got := many.cost(of); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(asked) != measured || asked[1005] != 0 {
		t.Errorf("%d lengths were measured, want %d", len(asked), measured)
	}
	if got := (Tally{}).cost(of); got != 0 {
		t.Errorf("of nothing: got %v", got)
	}
}

// Proves: bench.tables
func TestPrice(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, key := range []int{16, 24, 32} {
		c, err := New(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{57, 112, 1500, 65000} {
			if seal, open := c.Price(n); seal <= 0 || open <= 0 {
				t.Errorf("%d bytes under %d: got %v and %v", n, key, seal, open)
			}
		}
		if seal, open := c.Price(31); seal != 0 || open != 0 {
			t.Errorf("shorter than header and tag: got %v and %v", seal, open)
		}
	}
	if _, err := New(20); err == nil {
		t.Error("a key of 20 bytes: got no error")
	}
}
