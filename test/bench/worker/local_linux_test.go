// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
	"github.com/utipc/utipc/test/tier"
)

// What has both ends in one process measures at the end that does, and only waits at the
// other.
//
// Proves: bench.loads
func TestOneProcess(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, o := range []worker.Open{
		{Load: worker.Local, Socket: "rdm", Wait: "sleep"},
		{Load: worker.Local, Socket: "call", Wait: "adaptive"},
		{Load: worker.Local, Socket: "tipcpacket", Wait: "sleep"},
		{Load: worker.Local, Socket: "tipc", Wait: "sleep"},
		{Load: worker.Local, Socket: "channel"},
		{Load: worker.Memory, MTU: 1500, Single: true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		l, err := worker.OpenLoad(ctx, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		defer l.Close()
		for i, size := range []int{64, 64 << 10} {
			for _, kind := range []load.Kind{load.Ping, load.Receive} {
				if kind == load.Receive && o.Socket == "call" {
					continue // it has round trips alone
				}
				j := load.Job{Kind: kind, Round: uint32(i + 1), Size: size, For: 5 * time.Millisecond}
				if r, err := l.Run(ctx, j); err != nil || r.Count == 0 || r.All < r.Count || r.Bytes+uint64(size) <= r.Count*uint64(size) { // of a stream, one may be a part
					t.Errorf("%+v, %+v: got %+v, %v", o, j, r, err)
				}
			}
		}
		served, stop := context.WithCancel(ctx)
		stop()
		if r, err := l.Run(served, load.Job{Kind: load.Pong, Size: 64}); err != nil || r.Count != 0 {
			t.Errorf("%+v: the end that serves: got %+v, %v", o, r, err)
		}
	}
	for _, o := range []worker.Open{{Load: worker.Local, Socket: "rdm", Wait: "long"}, {Load: worker.Local, Socket: "udp", Wait: "sleep"}} {
		if _, err := worker.OpenLoad(t.Context(), o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}
