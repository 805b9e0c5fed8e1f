// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/utipc/utipc/test/bench/figure"
)

// A Result is a line that a program of examples/mpi prints, or a figure of another program.
type Result struct {
	Name  string // with the size: halo 79
	Size  int
	Ranks int
	Steps int
	Value float64
	Unit  figure.Unit // of the value; times are better when smaller
	P50   float64     // of a step, in seconds; 0: the program does not say
}

// units of kernels' values, if they are no times.
var units = map[string]figure.Unit{"store": figure.PerSecond, "migrate": figure.PerSecond}

var line = regexp.MustCompile(`(?m)^(\w+) size=(\d+) ranks=(\d+) steps=(\d+) value=(\S+) p50=(\S+) p99=\S+ max=\S+ checked: \S.*$`)

// Parse reads what a program of examples/mpi has printed, and fails unless it has so many results.
func Parse(out string, want int) ([]Result, error) {
	all, err := parse(out)
	if err == nil && len(all) != want {
		err = fmt.Errorf("it has printed %d results, want %d: %s", len(all), want, last([]byte(out)))
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

func parse(out string) (all []Result, err error) {
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		r := Result{Name: m[1] + " " + m[2], Unit: figure.Seconds}
		if u := units[m[1]]; u != "" {
			r.Unit = u
		}
		for i, to := range []*int{&r.Size, &r.Ranks, &r.Steps} {
			if *to, err = strconv.Atoi(m[2+i]); err != nil {
				return nil, err
			}
		}
		for i, to := range []*float64{&r.Value, &r.P50} {
			if *to, err = strconv.ParseFloat(m[5+i], 64); err != nil || !(*to > 0) {
				return nil, fmt.Errorf("%s has the value %q", r.Name, m[5+i])
			}
		}
		if m[1] == pingpong { // a round trip is the median one, as in the other measurements
			r.Value = r.P50
		}
		all = append(all, r)
	}
	return all, nil
}

// sent is how many bytes of messages at least went from host to host for what a program printed: those of the ping-pong
// both ways, and of the kernels a byte a step.
func sent(out string) (bytes uint64) {
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		size, _ := strconv.ParseUint(m[2], 10, 64)
		steps, _ := strconv.ParseUint(m[4], 10, 64)
		if m[1] != "pingpong" {
			size = 0
		}
		bytes += steps * max(2*size, 1)
	}
	return bytes
}

// figures of HPCC's output that are kept, in its own units.
var hpccFigures = []struct {
	key, name string
	unit      figure.Unit
	factor    float64
}{
	{"AvgPingPongLatency_usec", "ping-pong, one way", figure.Seconds, 1e-6},
	{"NaturallyOrderedRingLatency_usec", "ring in order, one way", figure.Seconds, 1e-6},
	{"AvgPingPongBandwidth_GBytes", "ping-pong, 2 MB", figure.BytesPerSecond, 1e9},
	{"PTRANS_GBs", "matrix transposed", figure.BytesPerSecond, 1e9},
	{"HPL_Tflops", "HPL, N 128", flops, 1e12},
	{"MPIRandomAccess_GUPs", "random updates", figure.PerSecond, 1e9},
	{"MPIFFT_Gflops", "FFT", flops, 1e9},
}

const flops figure.Unit = "flop/s"

// hpccChecks is how often HPCC's output has what, when all of its parts have found their results right.
var hpccChecks = map[string]int{
	"Success=1": 1, "1 tests completed and passed residual checks": 1,
	"5 tests completed and passed residual checks": 1, "Found 0 errors": 4, " FAILED": 0, "Solution Validates": 1,
}

// CheckHPCC says what is wrong with HPCC's output, if its parts have not all found their results right.
func CheckHPCC(out string) error {
	for what, want := range hpccChecks {
		if got := strings.Count(out, what); got != want {
			return fmt.Errorf("HPCC says %q %d times, want %d", what, got, want)
		}
	}
	return nil
}

// parseHPCC reads HPCC's output.
func parseHPCC(out string) (all []Result, err error) {
	if err := CheckHPCC(out); err != nil {
		return nil, err
	}
	for _, f := range hpccFigures {
		_, rest, ok := strings.Cut(out, "\n"+f.key+"=")
		text, _, _ := strings.Cut(rest, "\n")
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("HPCC's output has no %s", f.key)
		}
		if v > 0 { // what is too small for its digits is 0
			all = append(all, Result{Name: f.name, Value: v * f.factor, Unit: f.unit})
		}
	}
	return all, nil
}

var (
	npbTime  = regexp.MustCompile(`(?m)^ Time in seconds = +([\d.]+)$`)
	npbRight = regexp.MustCompile(`(?m)^ Verification +=? +SUCCESSFUL$`)
)

// parseNPB reads what a program of the NAS Parallel Benchmarks prints.
func parseNPB(name, out string) ([]Result, error) {
	m := npbTime.FindStringSubmatch(out)
	if m == nil || !npbRight.MatchString(out) {
		return nil, fmt.Errorf("%s was not verified: %s", name, last([]byte(out)))
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return []Result{{Name: "NPB " + name, Value: v, Unit: figure.Seconds}}, err
}
