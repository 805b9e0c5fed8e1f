// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/cores"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// The curve is printed, over a network in memory and over veth pairs.
//
// Mutations it catches: points leaves out the last number of goroutines; Measure does not tell of others' load.
//
// Proves: bench.cores
func TestBenchCores(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	out, errs, status := utipcLab(nil, "bench", "cores", "--short")
	if status != cmdline.Done || errs != "memory\nveth\n" {
		t.Fatalf("got status %d, %q\n%s", status, errs, out)
	}
	for _, want := range []string{
		`(?m)^.*, \d+ cores, .*$`,
		`(?m)^all nodes in one process, GOMAXPROCS \d+: the curve ends there`,
		`(?m)^others used \d+ % of the cores meanwhile$`,
		`(?m)^8 goroutines, a socket each, to 2 peers by turns +[\d.]+ k/s +- +-$`,
		`(?m)^the lock is held for a message +[\d.]+ ns +- +-$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
	if got := strings.Count(out, "the lock is held"); got != 2*4*3 {
		t.Errorf("%d points were measured, want 24", got)
	}
}

// Proves: bench.cores
func TestBenchCoresHelp(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "cores", "-h")
	if status != cmdline.Done {
		t.Errorf("-h: status %d", status)
	}
	for _, set := range cores.Sets {
		if !strings.Contains(out, "\n"+set.Name+" ") {
			t.Errorf("-h does not tell of %s", set.Name)
		}
	}
}
