// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/station"
)

// What AES takes of each message is added to the plain time of its round: of both ends
// of a round trip, of the slower end of what goes one way.
//
// Proves: bench.tables
func TestSealedRows(t *testing.T) {
	trips := func(p50 time.Duration, aes0, aes1 float64) *Outcome {
		r := station.Run{Round: 1}
		r.Ends[0] = load.Result{P50: p50, All: 1000, Sealed: 2000, AES: 1000 * aes0}
		r.Ends[1] = load.Result{Count: 2010, All: 2010, Sealed: 2000, AES: 1000 * aes1}
		return &Outcome{Runs: []station.Run{r}}
	}
	stream := func(messages uint64, aes0, aes1 float64) *Outcome {
		r := station.Run{Round: 1}
		r.Ends[0] = load.Result{Count: 2000, All: 2000, Sealed: 2000 * 46, AES: 2000 * aes0}
		r.Ends[1] = load.Result{Count: messages, Bytes: 64000 * messages, Elapsed: time.Second, All: 2000, Sealed: 2000 * 45, AES: 2000 * aes1}
		return &Outcome{Runs: []station.Run{r}}
	}
	for _, c := range []struct {
		name          string
		metric        Metric
		sealed, plain *Outcome
		ratio         float64
		verdict, note string
	}{
		{
			"a round trip", TripTime, trips(4000, 300, 200), trips(2500, 0, 0), 3000. / 4000, "MISS",
			"AES alone takes 0.50 us of 2.0 frames and leaves 3.00 us; 0.62 of plain",
		},
		{"a short one", TripTime, trips(3500, 300, 200), trips(2500, 0, 0), 3000. / 3500, "ok", "; 0.71 of plain"},
		{
			"a stream", Bits, stream(1000, 400e3, 200e3), stream(2000, 0, 0), 1000. / (1 / (0.0005 + 0.0004)), "ok",
			"AES alone takes 400.00 us of 46.0 frames and leaves 0.57 Gbit/s; 0.50 of plain",
		},
		{"a slower receiver", Bits, stream(800, 400e3, 500e3), stream(2000, 0, 0), 800. / 1000, "ok", "AES alone takes 500.00 us"},
		{"a slow stream", Bits, stream(800, 400e3, 200e3), stream(2000, 0, 0), 800. * 0.0009, "MISS", "; 0.40 of plain"},
	} {
		r := Comparison{Ours: "s/sealed", Beside: "s/plain", Metric: c.metric, Target: 0.8, Sealed: true}
		l := r.judge(map[string]*Outcome{"s/sealed": c.sealed, "s/plain": c.plain})
		if math.Abs(l.Value-c.ratio) > 1e-9 || l.Verdict() != c.verdict || !strings.Contains(l.Notes, c.note) || l.Error != "" {
			t.Errorf("%s: got %v, %s, %q, %q; want %v, %s, %q", c.name, l.Value, l.Verdict(), l.Notes, l.Error, c.ratio, c.verdict, c.note)
		}
	}
	// What was not sealed is no result.
	r := Comparison{Ours: "s/sealed", Beside: "s/plain", Metric: TripTime, Target: 0.8, Sealed: true}
	plain := trips(2500, 0, 0)
	plain.Runs[0].Ends[0].Sealed, plain.Runs[0].Ends[1].Sealed = 0, 0
	if l := r.judge(map[string]*Outcome{"s/sealed": plain, "s/plain": plain}); l.Verdict() != "MISS" || l.Error == "" {
		t.Errorf("nothing sealed: got %+v", l)
	}
}
