// SPDX-License-Identifier: Apache-2.0

package link

import (
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// While the frames of a cable vanish its stream brings nothing until the tolerance is over,
// the other goes on, and before the cut both did; nothing is lost, doubled or reordered.
func TestTimeline(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	f := Failovers[1]
	line, err := f.Timeline(t.Context(), xdp.Config{})
	if err != nil || line.Violations > 0 {
		t.Fatalf("got %d violations, %v", line.Violations, err)
	}
	const quiet = flowctl.DefaultTolerance - 300*time.Millisecond // surely, behind the cut
	var sums [2][2]float64                                        // of each stream: before the cut, and while its link is not yet given up
	for i, rates := range line.Rates {
		if len(rates) < int((line.Cut+quiet)/Bucket) {
			t.Fatalf("stream %d: got %d buckets", i, len(rates))
		}
		for k, r := range rates {
			switch at := time.Duration(k) * Bucket; {
			case at < line.Cut-Bucket:
				sums[i][0] += r
			case at > line.Cut+10*Bucket && at < line.Cut+quiet:
				sums[i][1] += r
			}
		}
	}
	if sums[0][0] == 0 || sums[1][0] == 0 || sums[0][1] != 0 || sums[1][1] == 0 {
		t.Errorf("bytes a second, added up, of the stream that is cut and the other, before and behind: %v", sums)
	}
	if line.Longest < quiet || line.Longest <= line.Usual {
		t.Errorf("the longest time without a message is %v, before the cut %v", line.Longest, line.Usual)
	}
}
