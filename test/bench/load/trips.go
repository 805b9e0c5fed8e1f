// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"time"

	"github.com/utipc/utipc/internal/quantile"
)

// maxTrips is how many round trips of a job are kept.
const maxTrips = 1 << 20

// warmUpTrips are made before any is counted, or as many as go into a fifth of the
// time.
const warmUpTrips = 200

// A Trips measures round trips. Its memory is taken when it is made.
type Trips struct {
	samples []uint32 // ns
	d       time.Duration
	made    time.Time
	begin   time.Time // of what counts
	last    time.Time
	warm    int
	mallocs Mallocs
	Lost    uint64
}

// NewTrips measures for d, warming up not counted.
func NewTrips(d time.Duration) *Trips {
	now := time.Now()
	return &Trips{samples: make([]uint32, 0, maxTrips), d: d, made: now, last: now}
}

// Next notes that a round trip has ended and another begins. It returns false when
// the time is over. It reads the clock once.
func (t *Trips) Next() bool {
	now := time.Now()
	if t.begin.IsZero() {
		if t.warm++; t.warm >= warmUpTrips || now.Sub(t.made) >= t.d/5 {
			t.mallocs.Begin()
			now = time.Now()
			t.begin = now
		}
		t.last = now
		return true
	}
	t.samples = append(t.samples, uint32(min(now.Sub(t.last), 1<<32-1)))
	t.last = now
	return now.Sub(t.begin) < t.d && len(t.samples) < cap(t.samples)
}

// Fractions are what shares of the samples are below the Quantiles of a Result.
var Fractions = []float64{0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1}

// fill sorts samples, in ns, and puts what they say into r.
func fill(r *Result, samples []uint32) {
	if len(samples) == 0 {
		return
	}
	slices.Sort(samples)
	at := func(share float64) time.Duration {
		return time.Duration(quantile.Of(samples, share))
	}
	r.P50, r.P99 = at(0.5), at(0.99)
	r.Quantiles = make([]time.Duration, len(Fractions))
	for i, share := range Fractions {
		r.Quantiles[i] = at(share)
	}
}

// Result sums up.
func (t *Trips) Result(size int) Result {
	n := uint64(len(t.samples))
	r := Result{Count: n, Bytes: n * uint64(size), Lost: t.Lost, Messages: 2 * n, Mallocs: t.mallocs.End(), All: n + uint64(t.warm)}
	if n == 0 {
		return r
	}
	r.Elapsed = t.last.Sub(t.begin)
	fill(&r, t.samples)
	return r
}
