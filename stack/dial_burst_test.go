// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// A burst of dials from one node finds room as far as the Backlog says: none is sent back to
// be asked again, which takes up to 2 s. The times are printed. It catches a limit for each
// node beside the Backlog.
func TestDialBurst(t *testing.T) {
	t.Parallel()
	a, b := pair(t, stack.Config{})
	dialer := stack.SocketConfig{DialTimeout: testTimeout} // so that on a slow machine the burst may take its time
	for i, dials := range []int{256, 4096} {
		svc := stack.Service{Type: 18888, Instance: uint32(i)}
		l, err := b.Listen(t.Context(), "tipcpacket", svc)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WaitFor(within(t), svc); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var failed atomic.Int32
		begin, ctx := time.Now(), within(t)
		for range dials {
			wg.Go(func() {
				c, err := dialer.Dial(ctx, a, "tipcpacket", svc)
				if err != nil {
					failed.Add(1)
					t.Log(err)
					l.Close()
					return
				}
				c.Close()
			})
		}
		for range dials {
			c, err := l.AcceptConn()
			if err != nil {
				break
			}
			c.Close()
		}
		wg.Wait()
		s := must.Get(l.Stats(context.Background()))
		t.Logf("%d dials at once: %v, at most %d waited", dials, time.Since(begin).Round(time.Millisecond), s.MostQueued)
		if failed.Load() > 0 || s.Returned > 0 || s.Dropped > 0 || s.MessagesIn != uint64(dials) {
			t.Errorf("%d of %d failed, %d sent back, %d requests", failed.Load(), dials, s.Returned, s.MessagesIn)
		}
		l.Close()
	}
}
