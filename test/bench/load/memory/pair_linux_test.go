// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/tier"
)

// Both ends of round trips and of a stream run, plain and sealed; what is sealed is
// counted and priced.
//
// Proves: bench.tables
func TestPair(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, c := range []Config{{}, {Key: 16}, {Stream: true, MTU: 9000}, {Stream: true, MTU: 9000, Key: 32}} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		p, err := Open(ctx, c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		defer p.Close()
		for _, j := range []load.Job{{Kind: load.Ping, Size: 64}, {Kind: load.Receive, Size: 20000}} {
			j.Round, j.For = 1, 20*time.Millisecond
			r, err := p.Run(ctx, j)
			if err != nil || r.Count == 0 || r.All < r.Count {
				t.Errorf("%+v, %s: got %+v, %v", c, j.Kind, r, err)
			}
			if per := float64(r.Sealed) / float64(max(1, r.All)); (c.Key > 0) != (per > 0.9) || (c.Key > 0) != (r.AES > 0) {
				t.Errorf("%+v, %s: %.1f sealed frames each, AES takes %v ns", c, j.Kind, per, r.AES)
			}
		}
		served, stop := context.WithCancel(ctx)
		stop()
		if r, err := p.Run(served, load.Job{Kind: load.Send}); err != nil || r.Count != 0 {
			t.Errorf("%+v: the end that serves: got %+v, %v", c, r, err)
		}
	}
}
