// SPDX-License-Identifier: Apache-2.0

package link

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

func TestMain(m *testing.M) {
	Tolerance = load.Tolerance
	os.Exit(m.Run())
}

// tiny is a run that only shows that everything works.
var tiny = Plan{Rounds: 1, For: 30 * time.Millisecond, Failovers: 1, Flow: 2000, Batches: 300}

// All rows are there, and none but for a reason of the machine's is without a value:
// messages arrive under loss, and while bearers are lost, once and in order.
func TestRows(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	var rows []Row
	rows = append(rows, lossRows(t.Context(), tiny, xdp.Config{})...)
	rows = append(rows, longRows(t.Context(), tiny, xdp.Config{})...)
	rows = append(rows, virtualRows(tiny)...)
	rows = append(rows, failoverRows(t.Context(), tiny, xdp.Config{})...)
	ids := map[string]bool{}
	for _, r := range rows {
		if r.Error != "" || ids[r.ID] || r.What == "" {
			t.Errorf("%s, %q: %s", r.ID, r.What, r.Error)
		}
		ids[r.ID] = true
		if none := strings.HasSuffix(r.ID, "-resets") || strings.HasSuffix(r.ID, "-wrong"); none != (r.Value == 0) {
			t.Errorf("%s: got %v", r.ID, r.Value)
		}
	}
	if want := 2*len(losses) + 1 + 3 + 9 + len(partings) + 1; len(rows) != want {
		t.Errorf("got %d rows, want %d", len(rows), want)
	}
	for _, r := range rows {
		if r.ID == "failover-silent" && r.Value < 1000 {
			t.Errorf("frames vanish, and the gap is %v ms: nothing was cut", r.Value)
		}
	}
}

// A stream notices what is missing.
func TestStreamSeesLoss(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	p, err := openPair(t.Context(), config{cables: 1, mtu: 1500})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	s, err := p.stream(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.rate(t.Context(), 50*time.Millisecond); got == 0 {
		t.Error("nothing arrives")
	}
	for range 3 { // not of the stream: one message twice, and then others
		if _, err := s.from.WriteTo(make([]byte, 100), s.to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	if err := until(t.Context(), func() bool { return s.wrong.Load() >= 3 }); err != nil {
		t.Errorf("%d are seen to be wrong, want at least 3: %v", s.wrong.Load(), err)
	}
	if wrong, _ := s.end(); wrong < 3 {
		t.Errorf("at the end: got %d wrong, want at least 3", wrong)
	}
}
