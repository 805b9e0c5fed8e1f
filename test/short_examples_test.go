// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"strings"
	"testing"
)

// The programs of the how-to pages have fewer than 100 lines of code each, without comments and empty lines.
//
// Mutation it catches: a program has ten lines more.
//
// Proves: house.docs
func TestProgramsAreShort(t *testing.T) {
	for _, name := range []string{
		"examples/chat", "examples/commands", "examples/election", "examples/files", "examples/jobs", "examples/poll", "adapters/raft/kv",
	} {
		b, err := os.ReadFile("../" + name + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		if lines >= 100 {
			t.Errorf("%s/main.go has %d lines of code, want fewer than 100", name, lines)
		}
	}
}
