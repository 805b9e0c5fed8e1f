// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWindow compares the window with a set of all numbers that came: it never
// takes one twice, and refuses no new one that is not too old.
//
// Proves: seal.tampered
func TestWindow(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, seen := &window{}, map[uint64]bool{}
		base := r.Uint64() >> (2 + r.IntN(60))
		top := uint64(0)
		for range 5000 {
			n := base + uint64(r.IntN(3000))
			switch r.IntN(40) {
			case 0:
				base += uint64(r.IntN(5000))
			case 1:
				base += windowSize - 1 + uint64(r.IntN(3))
			default:
				base += uint64(r.IntN(4))
			}
			got := w.take(n)
			if got && seen[n] {
				t.Fatalf("seed %d: %d taken twice", seed, n)
			}
			if top = max(top, n); !got && !seen[n] && top-n < windowSize-64 {
				t.Fatalf("seed %d: new %d refused, highest %d", seed, n, top)
			}
			if seen[n] = true; got == false && n == top && !seen[n] {
				t.Fatalf("seed %d: %d is the highest", seed, n)
			}
		}
	}
	w := &window{}
	for _, c := range []struct {
		n    uint64
		want bool
	}{
		{1, true},
		{1, false},
		{0, true},
		{0, false},
		{1 << 40, true},
		{2, false},
		{1<<40 - 900, true},
		{1<<40 - 900, false},
		{1<<40 - windowSize - 64, false},
		{math.MaxUint64, true},
		{math.MaxUint64, false},
		{math.MaxUint64 - 1, true},
		{0, false},
	} {
		if got := w.take(c.n); got != c.want {
			t.Errorf("%d: got %v, want %v", c.n, got, c.want)
		}
	}
}
