// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// BenchmarkFlood sends frames of 1400 bytes, batches of 64, over the loopback
// interface to an end that receives in a goroutine of its own; the sender is at
// most 1024 frames ahead, so that none is lost.
func BenchmarkFlood(b *testing.B) {
	for _, off := range []struct{ gso, gro bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		b.Run(fmt.Sprintf("gso=%v/gro=%v", off.gso, off.gro), func(b *testing.B) {
			x, y := pair(b, Config{MTU: 1472, NoGSO: !off.gso, NoGRO: !off.gro})
			data := make([][]byte, 64)
			for i := range data {
				data[i] = make([]byte, 1400)
			}
			bufs := x.frames(y.Addr(), data...)
			b.SetBytes(1400)
			b.ReportAllocs()
			var received atomic.Int64
			var in [64]*netdev.Buffer
			done := make(chan struct{})
			b.ResetTimer()
			go func() {
				defer close(done)
				for received.Load() < int64(b.N) {
					n, err := y.Receive(in[:])
					if err != nil {
						b.Error(err)
						return
					}
					for _, f := range in[:n] {
						f.Release()
					}
					received.Add(int64(n))
					if n == 0 {
						runtime.Gosched()
					}
				}
			}()
			for sent := 0; sent < b.N; {
				if int64(sent)-received.Load() > 1024 {
					runtime.Gosched()
					continue
				}
				n, err := x.Transmit(bufs[:min(len(bufs), b.N-sent)])
				if err != nil {
					b.Fatal(err)
				}
				sent += n
			}
			<-done
			b.StopTimer()
			for _, f := range bufs {
				f.Release()
			}
			s, r := x.Stats(), y.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mframes/s")
			b.ReportMetric(float64(s.Sent)/float64(s.SendCalls), "frames/send")
			b.ReportMetric(float64(s.Sent)/float64(s.SentRuns), "frames/run")
			b.ReportMetric(float64(r.Received)/float64(r.RecvCalls), "frames/receive")
		})
	}
}
