// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wall matches what takes a time off Go's monotonic clock, or asks for the wall clock.
var wall = regexp.MustCompile(`\.UTC\(\)|\.Local\(\)|\.Round\(0\)|\.Unix(Milli|Micro|Nano)?\(|time\.Unix\(|time\.Date\(|CLOCK_REALTIME`)

// wallUses are the places where the wall clock is right.
var wallUses = map[string]string{
	"stack/internal/remote/wait.go":   "a deadline that has passed whatever the clock",
	"stack/internal/remote/stream.go": "when an event was, to be shown",
	"stack/internal/poll/wait.go":     "a deadline that has passed whatever the clock",
	"stack/carrier/tap/pcapng.go":     "when a frame was, in a capture",
	"daemon/send.go":                  "a deadline that has passed whatever the clock",
	"daemon/stream.go":                "when an event was, to be shown",
	"daemon/watch.go":                 "a deadline that has passed whatever the clock",
	"attach/wake_linux.go":            "a deadline that has passed whatever the clock",
	"xdp/claim_linux.go":              "when the interface was claimed, to be shown",
}

// A wall clock that is set changes no timer of a node: what is timed uses Go's monotonic
// clock, which time.Now carries along, and nothing takes it off but what is listed.
// Mutation: poll.Loop.Now takes the difference of two UnixNano.
func TestNothingIsTimedByTheWallClock(t *testing.T) {
	used := map[string]bool{}
	for _, file := range sources(t, "stack", "stack/socket", "stack/internal/*", "stack/engine", "stack/carrier/*", "daemon", "daemon/bearers", "attach", "xdp", "netdev", "flowctl", "naming", "seal", "monitor", "internal/systemd", "cmd/utipc") {
		name := strings.TrimPrefix(filepath.ToSlash(file), "../")
		if strings.HasPrefix(name, "cmd/utipc/") && !strings.HasPrefix(name, "cmd/utipc/daemon") {
			continue // tools print times
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if code, _, _ := strings.Cut(line, "//"); wall.MatchString(code) {
				if used[name] = true; wallUses[name] == "" {
					t.Errorf("%s:%d: %s", name, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
	for name := range wallUses {
		if !used[name] {
			t.Errorf("%s uses no wall clock any more", name)
		}
	}
}
