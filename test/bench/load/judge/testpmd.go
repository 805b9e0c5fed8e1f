// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// testpmdRate is a line of the statistics that testpmd prints each second.
var testpmdRate = regexp.MustCompile(`^ *Rx-pps: +(\d+)`)

// A testpmdMeter makes a result of what a receiving testpmd prints.
type testpmdMeter struct {
	size    int // bytes of a frame
	seconds int // to be counted
	seen    int // since frames came; the first is not counted: it may be a part of one
	frames  uint64
}

// line takes a line, and reports whether that was enough.
func (m *testpmdMeter) line(s string) bool {
	rate := testpmdRate.FindStringSubmatch(s)
	if rate == nil {
		return false
	}
	n, _ := strconv.ParseUint(rate[1], 10, 64) // digits
	if n == 0 && m.seen == 0 {
		return false
	}
	if m.seen++; m.seen > 1 {
		m.frames += n
	}
	return m.seen > m.seconds
}

func (m *testpmdMeter) result() (load.Result, error) {
	if m.seen <= m.seconds {
		return load.Result{}, fmt.Errorf("testpmd: %d seconds of statistics, want %d", max(0, m.seen-1), m.seconds)
	}
	return load.Result{Count: m.frames, All: m.frames, Bytes: m.frames * uint64(m.size), Elapsed: time.Duration(m.seconds) * time.Second}, nil
}
