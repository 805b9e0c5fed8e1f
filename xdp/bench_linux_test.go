// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/xdp"
)

// The benchmarks are where to start from: both ends in one process, spinning,
// bare frames without a protocol over a veth pair. What a veth costs is part of
// them; on it the sender's call also does the receiver's share in the kernel.
// Figures of two runs compare only as ratios to something measured between.

// benchEnds opens a pair and a batch of frames each way.
func benchEnds(b *testing.B, mtu, size, batch int) (left, right *xdp.Packet, there, back []*netdev.Buffer) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("two spinning ends need two processors")
	}
	_, left, right = pair(b, mtu)
	there, back = make([]*netdev.Buffer, 0, batch), make([]*netdev.Buffer, 0, batch)
	for i := range uint32(batch) {
		there = append(there, buffers(b, raw(right.Addr(), left.Addr(), size, i))...)
		back = append(back, buffers(b, raw(left.Addr(), right.Addr(), size, i))...)
	}
	return left, right, there, back
}

// drain receives what there is and returns how many.
func drain(b testing.TB, p *xdp.Packet, bufs []*netdev.Buffer) int {
	n, err := p.Receive(bufs)
	if err != nil {
		b.Error(err)
	}
	for _, f := range bufs[:n] {
		f.Release()
	}
	return n
}

// BenchmarkOneWay floods; an operation is one frame, received.
func BenchmarkOneWay(b *testing.B) {
	for _, c := range []struct{ mtu, size int }{{1500, 64}, {1500, 1514}, {9000, 9014}, {65000, 64014}} {
		b.Run(fmt.Sprint(c.size), func(b *testing.B) {
			const batch, window = 16, 512 // frames; the window keeps the flood from being lost
			left, right, there, _ := benchEnds(b, c.mtu, c.size, batch)
			var received atomic.Int64
			var wait sync.WaitGroup
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			b.ResetTimer()
			wait.Go(func() {
				in := make([]*netdev.Buffer, 64)
				for got := 0; got < b.N && !b.Failed(); {
					if n := drain(b, right, in); n > 0 {
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

// BenchmarkRoundTrip sends one frame there and one back; an operation is both.
func BenchmarkRoundTrip(b *testing.B) {
	for _, c := range []struct{ mtu, size int }{{1500, 64}, {1500, 1514}, {9000, 9014}, {65000, 64014}} {
		b.Run(fmt.Sprint(c.size), func(b *testing.B) {
			left, right, there, back := benchEnds(b, c.mtu, c.size, 1)
			turns := func(me *xdp.Packet, ball []*netdev.Buffer, first bool) {
				in := make([]*netdev.Buffer, 4)
				for i := 0; i < b.N && !b.Failed(); i++ {
					if first {
						me.Transmit(ball)
					}
					for drain(b, me, in) == 0 && !b.Failed() {
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
