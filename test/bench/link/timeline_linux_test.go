// SPDX-License-Identifier: Apache-2.0

package link

import (
	"testing"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// While the frames of a cable vanish its stream brings nothing until the tolerance is over;
// nothing is lost, doubled or reordered.
//
// Proves: bench.report
func TestTimeline(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	f := Failovers[1]
	line, err := f.Timeline(t.Context(), xdp.Config{})
	if err != nil || line.Violations > 0 {
		t.Fatalf("got %d violations, %v", line.Violations, err)
	}
	var sums [2]float64 // of each stream
	for i, rates := range line.Rates {
		if len(rates) < int((line.Cut+Gone)/Bucket) {
			t.Fatalf("stream %d: got %d buckets", i, len(rates))
		}
		for _, r := range rates {
			sums[i] += r
		}
	}
	if sums[0] == 0 || sums[1] == 0 {
		t.Errorf("bytes a second, added up, of the stream that is cut and the other: %v", sums)
	}
	// What had arrived before the cut may be read behind it.
	if quiet := flowctl.DefaultTolerance / 3; line.Longest < quiet {
		t.Errorf("the longest time without a message is %v", line.Longest)
	}
}
