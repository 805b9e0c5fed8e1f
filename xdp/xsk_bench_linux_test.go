// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// xskBenches are what is measured, as for AF_PACKET in bench_linux_test.go.
var xskBenches = []struct {
	mode      xdp.Mode
	mtu, size int
}{
	{xdp.ModeGeneric, 1500, 64},
	{xdp.ModeNative, 1500, 64},
	{xdp.ModeGeneric, 1500, 1514},
	{xdp.ModeNative, 1500, 1514},
	{xdp.ModeGeneric, 9000, 9014},
	{xdp.ModeNative, 9000, 9014},
}

// xskEnds opens a pair and a batch of frames each way, in the sender's arena.
func xskEnds(b *testing.B, mode xdp.Mode, mtu, size, batch int) (left, right *xdp.XSK, there, back []*netdev.Buffer) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("two spinning ends need two processors")
	}
	d := newBed(b, mtu)
	end := func(ns *netns.NS, name string) (*xdp.XSK, *netdev.Arena) {
		x := openXSK(b, ns, name, &xdp.XSKConfig{Mode: mode, Fill: 2048})
		arena := netdev.NewArena(netdev.ArenaConfig{Small: 4096, Jumbo: 256, JumboSize: mtu + frame.EthernetLen})
		if err := x.Attach(arena, nil); err != nil {
			b.Fatal(err)
		}
		return x, arena
	}
	left, leftArena := end(d.a, nameA)
	right, rightArena := end(d.b, nameB)
	fill := func(arena *netdev.Arena, dst, src frame.MAC) (bufs []*netdev.Buffer) {
		for i := range uint32(batch) {
			f := arena.Get(size, netdev.Control)
			copy(f.Extend(size), raw(dst, src, size, i))
			bufs = append(bufs, f)
		}
		return bufs
	}
	return left, right, fill(leftArena, right.Addr(), left.Addr()), fill(rightArena, left.Addr(), right.Addr())
}

// drainXSK receives what there is and returns how many.
func drainXSK(b *testing.B, x *xdp.XSK, bufs []*netdev.Buffer) int {
	n, err := x.Receive(bufs)
	if err != nil {
		b.Error(err)
	}
	for _, f := range bufs[:n] {
		f.Release()
	}
	return n
}

// BenchmarkXSKOneWay floods; an operation is one frame, received.
func BenchmarkXSKOneWay(b *testing.B) {
	for _, c := range xskBenches {
		b.Run(fmt.Sprint(c.mode, "/", c.size), func(b *testing.B) {
			const batch, window = 32, 512 // frames; the window keeps the flood from being lost
			left, right, there, _ := xskEnds(b, c.mode, c.mtu, c.size, batch)
			var received atomic.Int64
			var wait sync.WaitGroup
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			b.ResetTimer()
			wait.Go(func() {
				in := make([]*netdev.Buffer, 64)
				for got := 0; got < b.N && !b.Failed(); {
					if n := drainXSK(b, right, in); n > 0 {
						got += n
						received.Store(int64(got))
					}
				}
			})
			for sent := 0; sent < b.N && !b.Failed(); {
				if sent-int(received.Load()) > window {
					continue
				}
				n, err := left.Transmit(there[:min(batch, b.N-sent)])
				if err != nil {
					b.Error(err)
				}
				sent += n
			}
			wait.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

// BenchmarkXSKRoundTrip sends one frame there and one back; an operation is both.
func BenchmarkXSKRoundTrip(b *testing.B) {
	for _, c := range xskBenches {
		b.Run(fmt.Sprint(c.mode, "/", c.size), func(b *testing.B) {
			left, right, there, back := xskEnds(b, c.mode, c.mtu, c.size, 1)
			turns := func(me *xdp.XSK, ball []*netdev.Buffer, first bool) {
				in := make([]*netdev.Buffer, 4)
				for i := 0; i < b.N && !b.Failed(); i++ {
					if first {
						me.Transmit(ball)
					}
					for drainXSK(b, me, in) == 0 && !b.Failed() {
					}
					if !first {
						me.Transmit(ball)
					}
				}
			}
			var wait sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			wait.Go(func() { turns(right, back, false) })
			turns(left, there, true)
			wait.Wait()
		})
	}
}
