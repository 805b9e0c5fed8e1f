// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/bench/sealed"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
)

// Proves: bench.tables
func TestBenchCrypto(t *testing.T) {
	tier.SkipShort(t, "a machine to itself: it measures")
	netns.Require(t)
	cmd := itself("bench", "crypto", "--rounds", "1", "--time", "100ms", "--wait", "0", "--quiet",
		"--only", "^(rtt-aes128|stream-9000-aes256|memory-rtt-aes192|memory-1500-aes128|wrong-key|aes128-112|dropping-64|allocations)$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		`(?m)^64 B round trip, spinning, AES-128, of what AES leaves of plain +[\d.]+ us +[\d.]+ us +[\d.]+ .* >= 0.8  (ok|MISS)$\n +AES alone takes [\d.]+ us of [\d.]+ frames and leaves [\d.]+ us; [\d.]+ of plain`,
		`(?m)^STREAM, writes of 64000 B, MTU 9000, AES-256, of what AES leaves of plain +[\d.]+ Gbit/s +[\d.]+ Gbit/s .* >= 0.8  (ok|MISS)$`,
		`(?m)^in memory: 64 B round trip, AES-192, of what AES leaves of plain +[\d.]+ us `,
		`(?m)^in memory: STREAM, MTU 1500, AES-128, of what AES leaves of plain +[\d.]+ Gbit/s `,
		`(?m)^sealed goodput with frames of a wrong key at line rate beside +[\d.]+ M/s +[\d.]+ M/s .*\n.*useless frames beside.*the receiver dropped, in one round: .*another key`,
		`(?m)^AES-128 of this core, a seal and an open of a packet of 112 B +[\d.]+ ns `,
		`(?m)^dropping a frame with a wrong key, a message of 64 B, engine alone +[\d.]+ ns `,
		`\n[0-5] of 5 targets met\n$`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
}

// Proves: bench.tables
func TestBenchCryptoList(t *testing.T) {
	out, _, status := utipcLab(nil, "bench", "crypto", "--list")
	if want := len(sealed.Table.Rows) + len(sealed.Table.More); status != cmdline.Done || strings.Count(out, "\n") != want || !strings.Contains(out, "rekeying-lost ") {
		t.Errorf("--list: got %q, status %d, want %d rows", out, status, want)
	}
	out, _, status = utipcLab(nil, "bench", "crypto", "-h")
	if status != cmdline.Done || !strings.HasPrefix(out, "utipc-lab bench crypto:") {
		t.Errorf("-h: got %q, status %d", out, status)
	}
}
