// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/xdp"
)

// Bucket is the step of a Timeline.
const Bucket = 10 * time.Millisecond

// A Timeline is what arrived while one of two bearers was cut and came back, both cables
// carrying a stream as fast as it is taken.
type Timeline struct {
	// Rates are bytes a second in each Bucket: of the stream whose cable is cut, and of
	// the other.
	Rates      [2][]float64
	Cut        time.Duration // when, since the first bucket
	Longest    time.Duration // in which one of the streams brought nothing, from the cut until the bearer came back
	Usual      time.Duration // the same before the cut
	Back       time.Duration // from the bearer's return until two links were up again; 0: not yet at the end
	Violations uint64        // messages lost, doubled or reordered
}

// A Failover is a way to cut a bearer.
type Failover struct {
	Name      string
	Tolerance time.Duration // of the links; 0: the default
	parting   int           // of partings
}

// Failovers are all of them.
var Failovers = []Failover{
	{Name: "carrier lost", parting: 0},
	{Name: "frames vanish, tolerance 1.5 s", parting: 2},
	{Name: "frames vanish, tolerance 100 ms", parting: 2, Tolerance: 100 * time.Millisecond},
}

// Gone is how long the bearer is: longer than it takes to notice at the default tolerance.
const Gone = 2600 * time.Millisecond

// The other times of a Timeline.
const (
	lineBefore = 300 * time.Millisecond
	lineAfter  = 1100 * time.Millisecond
	lineLate   = time.Minute // that all of it may be late
)

// Timeline makes two nodes, and cuts the first of their two cables, once.
func (f Failover) Timeline(ctx context.Context, driver xdp.Config) (t Timeline, err error) {
	x := partings[f.parting]
	p, err := openPair(ctx, config{cables: 2, mtu: 1500, driver: driver, silent: f.Tolerance})
	if err != nil {
		return t, err
	}
	defer p.close()
	began := time.Now()
	buckets := int((settling + lineBefore + Gone + lineAfter + lineLate) / Bucket)
	var streams []*stream
	end := func() (err error) {
		for _, s := range streams {
			wrong, err2 := s.end()
			t.Violations += wrong
			err = errors.Join(err, err2)
		}
		streams = nil
		return err
	}
	defer end()
	for parity := range 2 {
		s, err := p.tallied(lossSize, parity, began, buckets)
		if err != nil {
			return t, err
		}
		streams = append(streams, s)
	}
	both := streams
	mark := func() (longest time.Duration) {
		for _, s := range streams {
			longest = max(longest, s.mark())
		}
		return longest
	}
	pause(ctx, settling)
	mark()
	pause(ctx, lineBefore)
	t.Usual = mark()
	if err := x.cut(p, 0); err != nil {
		return t, err
	}
	t.Cut = time.Since(began)
	pause(ctx, Gone)
	t.Longest = mark()
	if err := x.repair(p, 0); err != nil {
		return t, err
	}
	back := time.Now()
	wait, cancel := context.WithTimeout(ctx, lineAfter)
	defer cancel()
	if p.await(wait, 2) == nil {
		t.Back = time.Since(back)
	}
	pause(ctx, lineAfter-time.Since(back))
	buckets = min(buckets, int(time.Since(began)/Bucket))
	if err := end(); err != nil {
		return t, fmt.Errorf("%s: %w", f.Name, err)
	}
	for i, s := range both {
		for _, n := range s.tally[:buckets] {
			t.Rates[i] = append(t.Rates[i], float64(n*lossSize)/Bucket.Seconds())
		}
	}
	return t, ctx.Err()
}
