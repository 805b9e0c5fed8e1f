// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/loadtest"
	"github.com/utipc/utipc/test/tier"
)

// openBoth opens both ends on loopback, or skips the test where the program is missing.
func openBoth(t *testing.T, open func(Config) (load.Load, error), udp bool) (ends [2]load.Load) {
	t.Helper()
	c := Config{Addrs: [2]string{"127.74.0.1", "127.74.0.2"}, UDP: udp}
	for _, end := range []int{1, 0} {
		var err error
		c.End = end
		ends[end], err = open(c)
		if errors.Is(err, ErrMissing) {
			tier.Missing(t, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[end].Close() })
		if s := ends[end].Info().Settings; !strings.ContainsAny(s, "0123456789") {
			t.Errorf("got settings %q, want a version", s)
		}
	}
	return ends
}

// What iperf3 prints is understood.
//
// Proves: bench.loads
func TestIperf3(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	t.Parallel()
	ends := openBoth(t, OpenIperf3, false)
	_, got := loadtest.Run(t, ends[0], ends[1], true, load.Job{Size: 4096, For: time.Millisecond})
	if got.Count == 0 || got.Bytes/got.Count < 4096 || got.Bytes/got.Count > 4097 || got.Elapsed < 900*time.Millisecond {
		t.Errorf("got %+v, want a second's writes of 4096 bytes", got)
	}
}

// What sockperf prints is understood, of TCP and of UDP.
//
// Proves: bench.loads
func TestSockperf(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	for _, udp := range []bool{false, true} {
		t.Run(map[bool]string{false: "TCP", true: "UDP"}[udp], func(t *testing.T) {
			t.Parallel()
			ends := openBoth(t, func(c Config) (load.Load, error) { return OpenSockperf(t.Context(), c) }, udp)
			got, _ := loadtest.Run(t, ends[0], ends[1], false, load.Job{Size: 100, For: time.Millisecond})
			if got.Count == 0 || got.Bytes != 100*got.Count || got.P50 < time.Microsecond || got.P50 > got.P99 || got.Elapsed < 100*time.Millisecond {
				t.Errorf("got %+v, want round trips of 100 bytes", got)
			}
		})
	}
}

// Proves: bench.loads
func TestRefusals(t *testing.T) {
	if _, err := Find("a program there is not"); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v, want %v", err, ErrMissing)
	}
	for _, out := range []string{"", "{}", `{"error":"unable to connect"}`, `{"start":{"test_start":{"blksize":0}},"end":{"sum_received":{"seconds":1,"bytes":5}}}`} {
		if r, err := parseIperf3([]byte(out)); err == nil {
			t.Errorf("iperf3 said %q: got %+v", out, r)
		}
	}
	whole := "[Valid Duration] RunTime=0.5 sec; SentMessages=10; ReceivedMessages=9\nSummary: Round trip is 7.0 usec\n"
	for _, out := range []string{"", whole, strings.Replace(whole, "Round trip", "Latency", 1) + "percentile 50.000 = 7.0\npercentile 99.000 = 8.0"} {
		if r, err := parseSockperf([]byte(out), 64); err == nil {
			t.Errorf("sockperf said %q: got %+v", out, r)
		}
	}
	got, err := parseSockperf([]byte(whole+"---> percentile 99.000 =    8.500\n---> percentile 50.000 =    7.250"), 64)
	if err != nil || got.Count != 9 || got.Lost != 1 || got.P50 != 7250*time.Nanosecond || got.P99 != 8500*time.Nanosecond {
		t.Errorf("got %+v, %v", got, err)
	}
}
