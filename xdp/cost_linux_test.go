// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// threadTime is the processor time of the calling thread, in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}

// BenchmarkCost is what a frame costs the processor on its way out and in, one
// thread doing both in turns. It counts the thread's own time, so it tells the
// same beside other work, as the clock on the wall does not. On a veth the way out
// includes the kernel's share of the way in.
func BenchmarkCost(b *testing.B) {
	for _, c := range []struct{ mtu, size, batch int }{
		{1500, 64, 1}, {1500, 64, 16}, {1500, 1414, 16}, {9000, 64, 16}, {9000, 1414, 16}, {9000, 9014, 16}, {65000, 64014, 16},
	} {
		b.Run(fmt.Sprintf("mtu=%d/size=%d/batch=%d", c.mtu, c.size, c.batch), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			_, left, right := pair(b, c.mtu)
			var out []*netdev.Buffer
			for i := range uint32(c.batch) {
				out = append(out, buffers(b, raw(right.Addr(), left.Addr(), c.size, i))...)
			}
			in := make([]*netdev.Buffer, 64)
			var sending, receiving int64
			b.ResetTimer()
			for range b.N {
				begin := threadTime()
				n, err := left.Transmit(out)
				middle := threadTime()
				if n != len(out) || err != nil {
					b.Fatal(n, err)
				}
				for got := 0; got < n; {
					k, err := right.Receive(in)
					if err != nil {
						b.Fatal(err)
					}
					for _, f := range in[:k] {
						f.Release()
					}
					got += k
				}
				sending += middle - begin
				receiving += threadTime() - middle
			}
			frames := float64(b.N * c.batch)
			b.ReportMetric(float64(sending)/frames, "cpu-ns/out")
			b.ReportMetric(float64(receiving)/frames, "cpu-ns/in")
			b.ReportMetric(0, "ns/op")
		})
	}
}
