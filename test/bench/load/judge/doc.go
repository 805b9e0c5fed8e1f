// SPDX-License-Identifier: Apache-2.0

// Package judge has programs that others wrote and trust measure the kernel's TCP and UDP:
// iperf3 one way, sockperf round trips. What they find stands beside what this project's
// own loads of TCP and UDP find on the same cable, in the same rounds. Where the two
// disagree, one of them measures wrong, and a comparison with TCP means nothing.
//
//	iperf3    one way: end 1 serves one test a job, end 0 runs it
//	sockperf  round trips: end 1's server stays, end 0 runs the client
//
// Others measure what a program may use instead: fi_pingpong libfabric, ucx_perftest UCX, both
// round trips, with a program at each end in every job. DPDK's testpmd says how many frames another
// driver takes through the same interface.
//
// iperf3, sockperf and testpmd measure for whole seconds, hence longer than a job may ask for.
package judge

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Names of the programs.
const (
	Iperf3   = "iperf3"
	Sockperf = "sockperf"
	Pingpong = "fi_pingpong"
	Perftest = "ucx_perftest"
	Testpmd  = "dpdk-testpmd"
)

// packages are Debian's, where they are not called as the program.
var packages = map[string]string{Pingpong: "libfabric-bin", Perftest: "ucx-utils", Testpmd: "dpdk-dev"}

// ErrMissing means that a program is not installed.
var ErrMissing = errors.New("it is not installed")

// Find returns where a program is. The error is an ErrMissing and says what mends it.
func Find(program string) (path string, err error) {
	if path, err = exec.LookPath(program); err != nil {
		return "", fmt.Errorf("%s: %w: apt-get install %s", program, ErrMissing, cmp.Or(packages[program], program))
	}
	return path, nil
}

// A Config says which end this is of what is measured.
type Config struct {
	End   int       // 1 serves
	Addrs [2]string // IPv4, of both ends
	UDP   bool      // else TCP; of Sockperf and Pingpong
	Iface string    // of Testpmd
}

// wholeSeconds is what a program is told to measure for: d, rounded up.
func wholeSeconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
