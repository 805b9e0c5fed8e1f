// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"context"
	"testing"

	"github.com/utipc/utipc/test/bench/sheet"
)

// A single figure has a target, must be 0, or is printed.
//
// It fails if the row of a Single lacks the target, the note or the error.
//
// Proves: bench.tables, daemon.cost
func TestSingles(t *testing.T) {
	of := func(v float64) func(context.Context, Options) (Figure, error) {
		return func(context.Context, Options) (Figure, error) { return Figure{v, "a note"}, nil }
	}
	for _, c := range []struct {
		s       Single
		verdict string
	}{
		{Single{Goal: sheet.AtMost, Target: 2048, Measure: of(2000)}, "ok"},
		{Single{Goal: sheet.AtMost, Target: 2048, Measure: of(2049.4)}, "MISS"},
		{Single{Unit: "ms", Measure: of(1.2345)}, "-"},
		{Single{Goal: sheet.AtMost, Measure: of(0)}, "ok"},
		{Single{Goal: sheet.AtMost, Measure: of(1)}, "MISS"},
	} {
		r := c.s.row(t.Context(), Options{})
		if r.Verdict() != c.verdict || r.Notes != "a note" || r.Unit != c.s.Unit {
			t.Errorf("got %+v, want %s", r, c.verdict)
		}
	}
	broken := Single{Goal: sheet.AtMost, Measure: func(context.Context, Options) (Figure, error) { return Figure{}, context.Canceled }}
	if r := broken.row(t.Context(), Options{}); r.Verdict() != "MISS" || r.Error == "" {
		t.Errorf("broken: got %+v", r)
	}
}
