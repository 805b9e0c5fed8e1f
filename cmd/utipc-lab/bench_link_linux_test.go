// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/link"
	"github.com/utipc/utipc/test/tier"
)

func TestBenchLink(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	out, errs, status := utipcLab(nil, "bench", "link", "--short", "--quiet", "--only", "^core$")
	if status != cmdline.Done || errs != "" {
		t.Fatalf("got status %d, %q", status, errs)
	}
	for _, want := range []string{
		`(?m)^64 B message, core alone, to send +[\d.]+ ns +<= 120 ns  (ok|MISS)$`,
		`(?m)^allocations per message, core alone .* (ok|MISS)$`,
		`\n[0123] of 3 targets met\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
}

func TestBenchLinkHelpAndMisuse(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "link", "-h")
	if status != cmdline.Done || !strings.HasPrefix(out, "utipc-lab bench link:") {
		t.Errorf("-h: got %q, status %d", out, status)
	}
	for _, set := range link.Sets {
		name := set.Name
		if !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("-h does not tell of %s", name)
		}
	}
	for _, args := range [][]string{{"now"}, {"--only", "("}, {"--driver", "pigeon"}} {
		if out, errs, status := utipcLab(nil, append([]string{"bench", "link"}, args...)...); status != cmdline.Misuse || out != "" || !strings.Contains(errs, "shows how") {
			t.Errorf("%q: got %q, %q, status %d, want a usage error", args, out, errs, status)
		}
	}
	if out, errs, status := utipcLab(nil, "bench", "link", "--only", "no such"); status != cmdline.Failed || out != "" || !strings.Contains(errs, "nothing has such a name") {
		t.Errorf("no set: got %q, %q, status %d", out, errs, status)
	}
}
