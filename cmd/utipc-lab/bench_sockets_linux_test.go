// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/sockets"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Proves: bench.tables
func TestBenchSockets(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	cmd := itself("bench", "sockets", "--rounds", "1", "--time", "200ms", "--wait", "0", "--quiet", "--only", "^(rtt-stream|dials)$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		`(?m)^STREAM 64 B round trip, spinning, beside RDM +[\d.]+ us +[\d.]+ us +[\d.]+ `,
		`(?m)^connections set up and closed a second, asleep, beside Go net TCP +[\d.]+ k/s +[\d.]+ k/s +[\d.]+ `,
		`\n0 of 0 targets met\n$`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
}

// Proves: bench.tables
func TestBenchSocketsList(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "sockets", "--list")
	if want := len(sockets.Table.Rows) + len(sockets.Table.More); status != cmdline.Done || strings.Count(out, "\n") != want || !strings.Contains(out, "idle ") {
		t.Errorf("--list: got %q, status %d, want %d rows", out, status, want)
	}
	out, _, status = utipcLab(nil, "bench", "sockets", "-h")
	if status != cmdline.Done || !strings.HasPrefix(out, "utipc-lab bench sockets:") {
		t.Errorf("-h: got %q, status %d", out, status)
	}
}
