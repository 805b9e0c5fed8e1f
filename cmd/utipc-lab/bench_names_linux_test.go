// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/names"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Proves: names.cost
func TestBenchNames(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	out, errs, status := utipcLab(nil, "bench", "names", "--short", "--quiet", "--only", "^(bind|events)$")
	if status != cmdline.Done || errs != "" {
		t.Fatalf("got status %d, %q", status, errs)
	}
	for _, want := range []string{
		`(?m)^.*, \d+ cores, .*; all nodes in one process, GOMAXPROCS \d+$`,
		`(?m)^from Bind until another node has sent there, median +[\d.]+ us +- +-$`,
		`(?m)^from Bind until a subscriber on another node knows, median +[\d.]+ us +- +-$`,
		`(?m)^    200 times, the longest [\d.]+ us$`,
		`\n0 of 0 targets met\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
	out, errs, status = utipcLab(nil, "bench", "names", "--short", "--markdown", "--only", "^bind$")
	if status != cmdline.Done || errs != "bind\n" || !strings.HasPrefix(out, "## Names\n") || !strings.Contains(out, "\n| what | value | target |  | notes |\n") {
		t.Errorf("--markdown: got %q, %q, status %d", out, errs, status)
	}
}

// Proves: names.cost
func TestBenchNamesHelpAndMisuse(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "names", "-h")
	if status != cmdline.Done || !strings.HasPrefix(out, "utipc-lab bench names:") {
		t.Errorf("-h: got %q, status %d", out, status)
	}
	for _, set := range names.Sets {
		name := set.Name
		if !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("-h does not tell of %s", name)
		}
	}
	for _, args := range [][]string{{"now"}, {"--only", "("}, {"--driver", "pigeon"}} {
		if out, errs, status := utipcLab(nil, append([]string{"bench", "names"}, args...)...); status != cmdline.Misuse || out != "" || !strings.Contains(errs, "shows how") {
			t.Errorf("%q: got %q, %q, status %d, want a usage error", args, out, errs, status)
		}
	}
	if out, errs, status := utipcLab(nil, "bench", "names", "--only", "no such"); status != cmdline.Failed || out != "" || !strings.Contains(errs, "nothing has such a name") {
		t.Errorf("no set: got %q, %q, status %d", out, errs, status)
	}
}
