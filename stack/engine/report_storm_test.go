// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

// Two nodes that each miss a broadcast of the other report it, and do not answer each
// other's reports without end.
func TestReportIsNotAnsweredByReport(t *testing.T) {
	b := newBed(t, 3)
	b.pass(3 * time.Second)
	b.delay = func(int, int) time.Duration { return 50 * time.Microsecond }
	b.lose = func(_ int, f []byte) bool { return frame.MAC(f[:6]) == frame.BroadcastMAC }
	for _, n := range b.nodes {
		if err := n.OpenPort(PortConfig{}).Bind(b.now, frame.Range{Type: 100, Upper: 9}, frame.ClusterScope); err != nil {
			t.Fatal(err)
		}
	}
	b.lines = nil
	b.pass(500 * time.Millisecond)
	reports := 0
	for _, line := range b.lines {
		if strings.Contains(line, "link/state") && strings.Contains(line, "bcast-gap") {
			reports++
		}
	}
	if reports == 0 || reports > 600 {
		t.Errorf("got %d reports of missing broadcasts in 500 ms, want some, and at most 100 of each node to each other", reports)
	}
	b.lose = nil
	if !b.until(5*time.Second, func() bool {
		n := 0
		for _, x := range b.nodes {
			for range x.table.Overlapping(frame.Range{Type: 100, Upper: 9}) {
				n++
			}
		}
		return n == 9
	}) {
		t.Error("the names did not arrive")
	}
}
