// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"fmt"
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// pair is two stations and a batch of frames from the first to the second.
func pair(t testing.TB, size, batch int) (a, b *station, bufs []*netdev.Buffer) {
	h := hub.New(hub.Config{})
	a, b = plug(t, h, 1, 256), plug(t, h, 2, 256)
	for range batch {
		bufs = append(bufs, build(t, a.arena, b.Addr(), a.Addr(), size, 0))
	}
	return a, b, bufs
}

// pass sends bufs from a to b and gives the chunks back.
func pass(a, b *station, bufs, in []*netdev.Buffer) {
	a.Transmit(bufs)
	n, _ := b.Receive(in)
	for _, x := range in[:n] {
		x.Release()
	}
}

func TestNoAllocation(t *testing.T) {
	for _, batch := range []int{1, 64} {
		a, b, bufs := pair(t, 64, batch)
		in := make([]*netdev.Buffer, 64)
		if got := testing.AllocsPerRun(100, func() { pass(a, b, bufs, in) }); got != 0 {
			t.Errorf("batches of %d: got %v allocations, want 0", batch, got)
		}
	}
}

// One way, both sides turned by one goroutine: what a frame costs in all.
func BenchmarkOneWay(b *testing.B) {
	for _, size := range []int{64, 1514} {
		for _, batch := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%dB/batch=%d", size, batch), func(b *testing.B) {
				x, y, bufs := pair(b, size, batch)
				in := make([]*netdev.Buffer, 64)
				b.ReportAllocs()
				for i := 0; i < b.N; i += batch {
					pass(x, y, bufs, in)
				}
			})
		}
	}
}

// There and back, both sides turned by one goroutine.
func BenchmarkRoundTrip(b *testing.B) {
	x, y, bufs := pair(b, 64, 1)
	back := []*netdev.Buffer{build(b, y.arena, x.Addr(), y.Addr(), 64, 0)}
	in := make([]*netdev.Buffer, 64)
	b.ReportAllocs()
	for b.Loop() {
		pass(x, y, bufs, in)
		pass(y, x, back, in)
	}
}

// There and back between two goroutines that sleep until they are woken.
func BenchmarkRoundTripAsleep(b *testing.B) {
	h := hub.New(hub.Config{})
	var ports [2]*hub.Port
	var awake [2]chan struct{}
	var bufs [2][]*netdev.Buffer
	for i := range ports {
		p, err := h.Port("eth0", mac(i))
		if err != nil {
			b.Fatal(err)
		}
		arena := netdev.NewArena(netdev.ArenaConfig{Small: 64})
		awake[i] = make(chan struct{}, 1)
		if err := p.Attach(arena, func() {
			select {
			case awake[i] <- struct{}{}:
			default:
			}
		}); err != nil {
			b.Fatal(err)
		}
		ports[i], bufs[i] = p, []*netdev.Buffer{build(b, arena, mac(1-i), mac(i), 64, 0)}
	}
	// await sleeps until frames are there; false when the port is closed.
	await := func(i int, in []*netdev.Buffer) bool {
		for {
			n, err := ports[i].Receive(in)
			for _, x := range in[:n] {
				x.Release()
			}
			switch {
			case err != nil:
				return false
			case n > 0:
				return true
			}
			<-awake[i]
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := make([]*netdev.Buffer, 8)
		for await(1, in) {
			ports[1].Transmit(bufs[1])
		}
	}()
	in := make([]*netdev.Buffer, 8)
	for b.Loop() {
		ports[0].Transmit(bufs[0])
		await(0, in)
	}
	ports[1].Close()
	<-done
}
