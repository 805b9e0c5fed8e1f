// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// fabricTrips is how many round trips fi_pingpong and ucx_perftest make in a job: both count
// trips, not time.
const fabricTrips = 20_000

var (
	// A line of fi_pingpong: bytes, trips sent and acknowledged, bytes both ways, seconds,
	// MB a second, microseconds of a transfer (half of a round trip), transfers a second.
	pingpongLine = regexp.MustCompile(`(?m)^(\d+[kmg]?) +(\d+[kmg]?) +=(\d+[kmg]?) +\S+ +[0-9.]+s +[0-9.]+ +([0-9.]+) +[0-9.]+`)
	// The last line of ucx_perftest: messages, then the median, the mean and the mean of all of
	// half a round trip, in microseconds.
	perftestLine = regexp.MustCompile(`(?m)^Final: +(\d+) +([0-9.]+) +([0-9.]+) +([0-9.]+)`)
)

// parsePingpong reads what fi_pingpong's client prints. It has no quantiles.
func parsePingpong(out []byte, size int) (load.Result, error) {
	m := pingpongLine.FindSubmatch(out)
	if m == nil {
		return load.Result{}, fmt.Errorf("fi_pingpong: no round trips in %q", last(out))
	}
	if string(m[2]) != string(m[3]) {
		return load.Result{}, fmt.Errorf("fi_pingpong: %s of %s round trips were answered", m[3], m[2])
	}
	return halves(string(m[4]), fabricTrips, size)
}

// parsePerftest reads what the client of ucx_perftest prints.
func parsePerftest(out []byte, size int) (load.Result, error) {
	m := perftestLine.FindSubmatch(out)
	if m == nil {
		return load.Result{}, fmt.Errorf("ucx_perftest: no round trips in %q", last(out))
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	if err != nil {
		return load.Result{}, fmt.Errorf("ucx_perftest: %w", err)
	}
	r, err := halves(string(m[4]), n, size)
	if err != nil {
		return r, err
	}
	median, err := strconv.ParseFloat(string(m[2]), 64)
	r.P50 = time.Duration(2 * median * 1e3)
	return r, err
}

// halves is the result of trips round trips, half of each of which took a mean of us microseconds.
func halves(us string, trips uint64, size int) (load.Result, error) {
	half, err := strconv.ParseFloat(us, 64)
	if err != nil || half <= 0 {
		return load.Result{}, fmt.Errorf("%q is not a time", us)
	}
	return load.Result{Count: trips, All: trips, Bytes: trips * uint64(size), Elapsed: time.Duration(2 * half * 1e3 * float64(trips))}, nil
}

// last is the end of what a program printed.
func last(out []byte) string { return strings.TrimSpace(string(out[max(0, len(out)-500):])) }
