// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/daemon"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Proves: daemon.cost
func TestBenchDaemon(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	cmd := itself("bench", "daemon", "--rounds", "1", "--time", "100ms", "--wait", "0", "--quiet", "--only", "^(hop-|path-|flood)")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		`(?m)^program, daemon and back, 64 B through the ring, .* +[\d.]+ us +[\d.]+ us .* <= 6  (ok|MISS)$`,
		`(?m)^the same without the ring, asleep, .* +[\d.]+ us +[\d.]+ us .* -  -$`,
		`(?m)^program, daemon and back, 64 B, asleep on one core, .* +[\d.]+ us +[\d.]+ us .* <= 1.3  (ok|MISS)$`,
		`(?m)^programs of two hosts' daemons, .* +[\d.]+ us +[\d.]+ us .* -  -$`,
		`(?m)^p99 of 99 programs beside one that floods, .* <= 3 x  (ok|MISS)$`,
		`\n[0-3] of 3 targets met\n$`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
}

// Proves: daemon.cost
func TestBenchDaemonList(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "daemon", "--list")
	if want := len(daemon.Table.Rows) + len(daemon.Table.More); status != cmdline.Done || strings.Count(out, "\n") != want || !strings.Contains(out, "clients-memory ") {
		t.Errorf("--list: got %q, status %d, want %d rows", out, status, want)
	}
	out, _, status = utipcLab(nil, "bench", "daemon", "-h")
	if status != cmdline.Done || !strings.HasPrefix(out, "utipc-lab bench daemon:") {
		t.Errorf("-h: got %q, status %d", out, status)
	}
}
