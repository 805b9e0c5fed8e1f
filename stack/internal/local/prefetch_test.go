// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/internal/local"
)

// A prefetchingDevice is a netdev.Prefetcher, if it says so.
type prefetchingDevice struct {
	*fakeDevice
	prefetches bool
}

func (d prefetchingDevice) Prefetches() bool { return d.prefetches }

// A device that takes all that has come in any case is asked for a whole batch in every poll;
// another for one frame, as long as no more come.
//
// Mutation it catches: do not ask whether the device prefetches; do not ask what it says; go
// back to one frame after a poll without any.
func TestPrefetcherIsAskedForABatch(t *testing.T) {
	for _, prefetches := range []bool{true, false} {
		port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		d := prefetchingDevice{&fakeDevice{Device: port}, prefetches}
		n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(1), Wait: stack.Sleep, Chunks: 512})
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if prefetches {
			want = local.Batch
		}
		loop := inside(n).Loop()
		loop.Lock()
		polls := 0
		d.receive = func(bufs []*netdev.Buffer) (int, error) {
			if polls++; len(bufs) != want {
				t.Errorf("prefetches %v: asked for %d frames, want %d", prefetches, len(bufs), want)
			}
			return 0, nil
		}
		for range 3 {
			inside(n).PollOnce(loop.Now(), true)
		}
		if polls != 3 {
			t.Errorf("got %d calls of Receive, want 3", polls)
		}
		d.receive = nil
		loop.Unlock()
		n.Close(context.Background())
	}
}
