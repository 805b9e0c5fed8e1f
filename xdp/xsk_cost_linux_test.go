// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/utipc/utipc/netdev"
)

// BenchmarkXSKCost is BenchmarkCost for AF_XDP: what a frame costs the processor
// on its way out and in, in one thread, by the thread's own time.
func BenchmarkXSKCost(b *testing.B) {
	for _, c := range []struct{ mtu, size, batch int }{
		{1500, 64, 1}, {1500, 64, 16}, {1500, 64, 32}, {1500, 1414, 16}, {9000, 64, 16}, {9000, 9014, 16}, {65000, 64014, 16},
	} {
		for _, mode := range modes {
			b.Run(fmt.Sprintf("%v/mtu=%d/size=%d/batch=%d", mode, c.mtu, c.size, c.batch), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				left, right, out, _ := xskEnds(b, mode, c.mtu, c.size, c.batch)
				in := make([]*netdev.Buffer, 64)
				var there, here int64
				b.ReportAllocs()
				b.ResetTimer()
				for n := 0; n < b.N; n += len(out) {
					begun := threadTime()
					for sent := 0; sent < len(out); {
						k, err := left.Transmit(out[sent:])
						if err != nil {
							b.Fatal(err)
						}
						sent += k
					}
					between := threadTime()
					for got := 0; got < len(out); {
						got += drainXSK(b, right, in)
					}
					there += between - begun
					here += threadTime() - between
				}
				frames := float64((b.N + len(out) - 1) / len(out) * len(out))
				b.ReportMetric(float64(there)/frames, "cpu-ns/out")
				b.ReportMetric(float64(here)/frames, "cpu-ns/in")
			})
		}
	}
}
