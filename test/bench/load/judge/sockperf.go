// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// What sockperf says with --full-rtt. Times are in microseconds.
var (
	sockperfValid = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)`)
	sockperfWhole = regexp.MustCompile(`Summary: Round trip is [0-9.]+ usec`)
	sockperfShare = regexp.MustCompile(`percentile +([0-9.]+) = +([0-9.]+)`)
)

// parseSockperf reads what the client of a ping-pong prints. Size is of a message, in
// bytes.
func parseSockperf(out []byte, size int) (r load.Result, err error) {
	valid := sockperfValid.FindSubmatch(out)
	if valid == nil || !sockperfWhole.Match(out) {
		return r, fmt.Errorf("sockperf: no round trips in %q", out[max(0, len(out)-500):])
	}
	seconds, err := strconv.ParseFloat(string(valid[1]), 64)
	if err != nil {
		return r, fmt.Errorf("sockperf: %w", err)
	}
	sent, _ := strconv.ParseUint(string(valid[2]), 10, 64) // digits
	r.Count, _ = strconv.ParseUint(string(valid[3]), 10, 64)
	r.Bytes, r.All, r.Elapsed = r.Count*uint64(size), r.Count, time.Duration(seconds*1e9)
	r.Lost = sent - min(sent, r.Count)
	for _, m := range sockperfShare.FindAllSubmatch(out, -1) {
		us, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return r, fmt.Errorf("sockperf: %w", err)
		}
		switch d := time.Duration(us * 1e3); string(m[1]) {
		case "50.000":
			r.P50 = d
		case "99.000":
			r.P99 = d
		}
	}
	if r.P50 == 0 || r.P99 == 0 {
		return r, fmt.Errorf("sockperf: no median in %q", out)
	}
	return r, nil
}
