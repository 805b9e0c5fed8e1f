// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
)

func TestBindToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := openFake(t, hub.New(hub.Config{}), 1)
		defer n.Close(context.Background())
		c := mustOpen(t, n, nil)
		if c.Bind(nil) == nil || c.Unbind(nil) == nil {
			t.Error("got no error")
		}
	})
}

// A full device has its frames back when the node is closed, and is not called
// afterwards.
func TestCloseWithFullDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Config{})
		a, d := openFake(t, h, 1)
		b, _ := openFake(t, h, 2)
		defer b.Close(context.Background())
		server := mustOpen(t, b, stack.Service{Type: 18888})
		if err := a.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		c := mustOpen(t, a, nil)
		inside(a).Loop().Lock()
		d.transmit = func([]*netdev.Buffer) (int, error) { return 0, nil }
		inside(a).Loop().Unlock()
		for i := range 200 { // to a port that is there: within the window and the backlog
			if i < 140 {
				c.WriteTo([]byte("x"), server.LocalAddr())
			}
			c.Bind(stack.Service{Type: 18888})
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a.Close(ctx)
		calls := 0
		inside(a).Loop().Lock()
		d.receive = func([]*netdev.Buffer) (int, error) { calls++; return 0, nil }
		inside(a).Loop().Unlock()
		for range 2 * local.PollAfterSends {
			c.WriteTo([]byte("x"), stack.Service{Type: 18888})
		}
		if s := must.Get(a.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal || calls != 0 {
			t.Errorf("%d of %d chunks are free, the closed device was called %d times", s.ChunksFree, s.ChunksTotal, calls)
		}
	})
}
