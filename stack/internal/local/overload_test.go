// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A throttle lets so many frames through a millisecond, and never more than that at
// once.
type throttle struct {
	perMs, left float64
	last        time.Time
}

func (r *throttle) take(k int) int {
	now := time.Now()
	r.left = min(r.perMs, r.left+r.perMs*now.Sub(r.last).Seconds()*1000)
	r.last = now
	k = min(k, int(r.left))
	r.left -= float64(k)
	return k
}

// A flood is what came of offering a server more than it can take.
type flood struct {
	delivered float64 // messages a millisecond
	refused   int     // by the senders' nodes, at once
	resets    uint64
}

// offer lets nodes send perMs messages a millisecond in all, none of which waits,
// to a server. One frame holds one message. The senders' devices, or the
// server's, take limit frames a millisecond.
func offer(t *testing.T, network string, nodes int, perMs, limit float64, atServer bool) (got flood) {
	const long = 100 * time.Millisecond
	h := hub.New(hub.Config{})
	srv, dev := openFake(t, h, 100)
	server := mustOpen(t, srv, stack.Service{Type: 18888})
	var all []*stack.Node
	for i := range nodes {
		n, d := openFake(t, h, 1+i)
		all = append(all, n)
		if err := n.WaitFor(t.Context(), stack.Service{Type: 18888}); err != nil {
			t.Fatal(err)
		}
		if !atServer {
			r := &throttle{perMs: limit / float64(nodes)}
			inside(n).Loop().Lock()
			d.transmit = func(bufs []*netdev.Buffer) (int, error) {
				if k := r.take(len(bufs)); k > 0 {
					return d.Device.Transmit(bufs[:k])
				}
				return 0, nil
			}
			inside(n).Loop().Unlock()
		}
	}
	if atServer {
		r := &throttle{perMs: limit}
		inside(srv).Loop().Lock()
		dev.receive = func(bufs []*netdev.Buffer) (int, error) {
			may := r.take(len(bufs))
			k, err := dev.Device.Receive(bufs[:may])
			r.left += float64(may - k)
			return k, err
		}
		inside(srv).Loop().Unlock()
	}
	end := time.Now().Add(long)
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { // frames that had to wait call again, as a slow device's do
		for tick := time.NewTicker(50 * time.Microsecond); ctx.Err() == nil; <-tick.C {
			inside(srv).Loop().Wake()
		}
	})
	refused := make([]int, nodes)
	for i, n := range all {
		c, err := n.ListenPacket(t.Context(), network, nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			tick := time.NewTicker(time.Duration(float64(time.Millisecond) * float64(nodes) / perMs))
			for ; ctx.Err() == nil; <-tick.C {
				c.SetWriteDeadline(time.Now().Add(time.Nanosecond))
				if _, err := c.WriteTo(make([]byte, 1000), stack.Service{Type: 18888}); errors.Is(err, os.ErrDeadlineExceeded) {
					refused[i]++
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	server.SetReadDeadline(end)
	buf := make([]byte, 2048)
	for count := 1.0; ; count++ {
		if _, _, err := server.ReadFrom(buf); err != nil {
			break
		}
		got.delivered = count / float64(long/time.Millisecond)
	}
	wg.Wait()
	for i, n := range all {
		got.refused += refused[i]
		for _, l := range must.Get(n.Admin().Links(context.Background())) {
			got.resets += uint64(l.Resets)
		}
	}
	all = append(all, srv)
	for _, n := range all {
		n.Close(ctx)
	}
	for _, n := range all {
		if s := must.Get(n.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
			t.Errorf("%d of %d chunks are free", s.ChunksFree, s.ChunksTotal)
		}
	}
	return got
}

// Offered more than the network or the server takes, as much arrives as at the
// peak. The surplus costs a call that ends at once, and no link.
//
// Proves: link.goodput
func TestGoodputAtOverload(t *testing.T) {
	const limit = 20 // frames a millisecond
	for _, c := range []struct {
		network  string
		nodes    int
		atServer bool
	}{
		{"tipcrdm", 1, false}, {"tipcrdm", 1, true}, {"tipcrdm", 4, false}, {"tipcrdm", 4, true}, {"tipcgram", 1, false},
	} {
		t.Run(fmt.Sprintf("%s, %d nodes, at server %v", c.network, c.nodes, c.atServer), func(t *testing.T) {
			for _, load := range []float64{0.5, 2, 4} {
				synctest.Test(t, func(t *testing.T) {
					got := offer(t, c.network, c.nodes, load*limit, limit, c.atServer)
					t.Logf("%v times the limit: %+v", load, got)
					if want := min(load, 0.95) * limit * 0.97; got.delivered < want {
						t.Errorf("%v times the limit: %.2f messages/ms delivered, want %.2f", load, got.delivered, want)
					}
					if got.resets > 0 || load < 1 && got.refused > 0 || load > 1 && got.refused == 0 {
						t.Errorf("%v times the limit: %+v", load, got)
					}
				})
			}
		})
	}
}
