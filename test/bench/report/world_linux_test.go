// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"testing"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/sim"
	"github.com/utipc/utipc/test/tier"
)

// tiny measures a kind with the smallest plan, and demands that all of it could be measured.
func tiny(t *testing.T, k Kind) figure.Section {
	t.Helper()
	b := &Bench{Context: t.Context(), Plan: Tiny, Progress: io.Discard}
	s, err := b.Measure(k)
	if err != nil || len(s.Errors) > 0 || s.ID != k.Name || s.How == "" {
		t.Fatalf("%s: got %v, %q", k.Name, err, s.Errors)
	}
	return s
}

// Every system has its points, those of this stack and TCP's, and on the simulated link what
// is lost costs.
//
// Proves: bench.report
func TestLossKind(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	s := tiny(t, lossy)
	if len(s.Figures) != 3 || len(s.Figures[0].Series) != len(sim.Windows) || len(s.Figures[1].Series) != len(link.Lossies) {
		t.Fatalf("got %d figures", len(s.Figures))
	}
	for _, c := range s.Figures[0].Series {
		if first, last := c.Points[0], c.Points[len(c.Points)-1]; first.X != 0 || last.X != 10 || last.Y <= 0 || first.Y <= last.Y {
			t.Errorf("%s: %+v and %+v", c.Name, first, last)
		}
	}
	for _, c := range s.Figures[1].Series {
		for _, p := range c.Points {
			if p.Y <= 0 {
				t.Errorf("%s: %+v", c.Name, p)
			}
		}
	}
}

// The cut is at 0, and what is drawn begins before it and ends behind the return.
//
// Proves: bench.report
func TestFailoverKind(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	s := tiny(t, failover)
	if len(s.Tables) != 1 || len(s.Tables[0].Rows) != 1 || len(s.Figures) != 2 || len(s.Figures[1].Series) != 2 {
		t.Fatalf("got %+v", s.Tables)
	}
	for _, f := range s.Figures {
		p := f.Series[0].Points
		if p[0].X > -0.3 || p[len(p)-1].X < link.Gone.Seconds()+1 {
			t.Errorf("%s: from %v to %v", f.ID, p[0].X, p[len(p)-1].X)
		}
	}
}

// Proves: bench.report
func TestScaleKind(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	s := tiny(t, scale)
	if len(s.Tables) != 1 || len(s.Tables[0].Rows) != 1 || s.Tables[0].Rows[0].Name != "10" {
		t.Fatalf("got %+v", s.Tables)
	}
	for i, c := range s.Tables[0].Rows[0].Cells {
		if c.Value <= 0 {
			t.Errorf("%s: got %v", s.Tables[0].Heads[i+1], c.Value)
		}
	}
}

// The round shown is the one in the middle.
func TestMiddle(t *testing.T) {
	lines := []link.Timeline{{Longest: 5}, {Longest: 1}, {Longest: 3}}
	if got := middle(lines); got.Longest != 3 {
		t.Errorf("of three: got %v", got.Longest)
	}
	if got := middle(lines[:1]); got.Longest != 5 {
		t.Errorf("of one: got %v", got.Longest)
	}
	if got := middle(lines[:2]); got.Longest != 5 && got.Longest != 1 {
		t.Errorf("of two: got %v", got.Longest)
	}
}
