// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// An iperf3Report is what iperf3 prints with --json, as far as it is of use.
type iperf3Report struct {
	Error string `json:"error"`
	Start struct {
		Version string `json:"version"`
		Test    struct {
			BlockSize int `json:"blksize"` // bytes of a write
		} `json:"test_start"`
	} `json:"start"`
	End struct {
		Received struct {
			Seconds float64 `json:"seconds"`
			Bytes   uint64  `json:"bytes"`
		} `json:"sum_received"`
	} `json:"end"`
}

// parseIperf3 reads the report of the end that received. A message is what the other end
// wrote at once.
func parseIperf3(b []byte) (r load.Result, err error) {
	var p iperf3Report
	if err := json.Unmarshal(b, &p); err != nil {
		return r, fmt.Errorf("iperf3: %w", err)
	}
	in, size := p.End.Received, p.Start.Test.BlockSize
	switch {
	case p.Error != "":
		return r, fmt.Errorf("iperf3: %s", p.Error)
	case in.Bytes == 0 || in.Seconds <= 0 || size <= 0:
		return r, fmt.Errorf("iperf3 received %d bytes of writes of %d in %v s", in.Bytes, size, in.Seconds)
	}
	r.Bytes, r.Elapsed = in.Bytes, time.Duration(in.Seconds*1e9)
	r.Count = in.Bytes / uint64(size)
	r.All = r.Count
	return r, nil
}
