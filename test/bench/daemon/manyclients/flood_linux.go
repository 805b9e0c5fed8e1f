// SPDX-License-Identifier: Apache-2.0

package manyclients

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/worker"
)

// others is how many programs feel the one that floods.
const others = 99

// pace is the time between two messages of one of them.
const pace = 10 * time.Millisecond

// A Flood is the longest of a hundred round trips of the others, without the one that
// floods and beside it.
type Flood struct {
	Alone, Beside time.Duration // median of the rounds
	Ratio         float64       // the same, of each round's two
	Messages      uint64        // of the flood
}

// MeasureFlood attaches 99 programs, each of which sends itself a message 100 times a
// second, and one more that sends as fast as it can, by turns.
func MeasureFlood(ctx context.Context, program []string, rounds int, d time.Duration) (r Flood, err error) {
	h, err := openHost(ctx, program)
	if err != nil {
		return r, err
	}
	defer h.close()
	all, err := h.attach(ctx, others)
	if err != nil {
		return r, err
	}
	defer detach(all)
	var conns []*stack.PacketConn
	for _, p := range all {
		c, err := p.ListenPacket(ctx, "tipcrdm", nil)
		if err != nil {
			return r, err
		}
		conns = append(conns, c)
	}
	if h.flooder, err = h.start(ctx, worker.Open{Load: worker.Attached, Path: h.path, Wait: "sleep"}); err != nil {
		return r, err
	}
	var alone, beside, ratios []float64
	for range rounds {
		a, err := p99(ctx, conns, d)
		if err != nil {
			return r, err
		}
		call, err := h.flooder.Run(load.Job{Kind: load.Send, Size: 64})
		if err != nil {
			return r, err
		}
		b, err := p99(ctx, conns, d)
		call.Stop()
		sent, stopErr := call.Result(10 * time.Second)
		if err := errors.Join(err, stopErr); err != nil {
			return r, err
		}
		r.Messages += sent.Count
		alone, beside, ratios = append(alone, float64(a)), append(beside, float64(b)), append(ratios, float64(b)/float64(a))
	}
	r.Alone, r.Beside, r.Ratio = time.Duration(sheet.Median(alone)), time.Duration(sheet.Median(beside)), sheet.Median(ratios)
	return r, nil
}

// p99 is that of the round trips of all in a time.
func p99(ctx context.Context, conns []*stack.PacketConn, d time.Duration) (time.Duration, error) {
	trips := make([][]time.Duration, len(conns))
	errs := make([]error, len(conns))
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() { trips[i], errs[i] = ping(c, end, pace*time.Duration(i)/others) })
	}
	wg.Wait()
	all := slices.Concat(trips...)
	if err := errors.Join(append(errs, ctx.Err())...); err != nil || len(all) == 0 {
		return 0, errors.Join(err, errors.New("manyclients: no round trip"))
	}
	slices.Sort(all)
	return quantile.Of(all, 0.99), nil
}

// ping sends a message to the socket itself and waits for it, at the pace, until end; it
// begins a part of the pace later than others.
func ping(c *stack.PacketConn, end time.Time, later time.Duration) (trips []time.Duration, err error) {
	b := make([]byte, 64)
	time.Sleep(later)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for time.Now().Before(end) {
		begin := time.Now()
		if _, err := c.WriteTo(b, c.LocalAddr()); err != nil {
			return trips, err
		}
		if _, _, err := c.ReadFrom(b); err != nil {
			return trips, err
		}
		trips = append(trips, time.Since(begin))
		<-tick.C
	}
	return trips, nil
}
