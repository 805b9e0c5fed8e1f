// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
)

// A command in the documents whose output stands below it, perhaps cut to some lines.
var docCommand = regexp.MustCompile("(?m)^```\n\\$ utipc (decode [^|\n]*?)( \\| sed -n (\\d+),(\\d+)p)?\n((?:.*\n)*?)```$")

// TestDecodeDocument runs the commands in docs/how-to/decode.md and compares what they print.
// With UTIPC_UPDATE_DOCS=1 it writes the outputs anew.
//
// Proves: tools.decode
func TestDecodeDocument(t *testing.T) {
	const name = "../../docs/how-to/decode.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	n := 0
	now := docCommand.ReplaceAllStringFunc(string(text), func(block string) string {
		n++
		m := docCommand.FindStringSubmatch(block)
		args := strings.Fields(strings.ReplaceAll(m[1], "'", ""))
		out, errs, status := utipc(nil, args...)
		if status != cmdline.Done || errs != "" {
			t.Errorf("%s: got status %d, %q, want 0, nothing", m[1], status, errs)
		}
		if m[2] != "" {
			var from, to int
			fmt.Sscan(m[3]+" "+m[4], &from, &to)
			lines := strings.SplitAfter(out, "\n")
			if to > len(lines)-1 || from > to {
				t.Fatalf("%s: got %d lines, want %d", m[1], len(lines)-1, to)
			}
			out = strings.Join(lines[from-1:to], "")
		}
		if out != m[5] && os.Getenv("UTIPC_UPDATE_DOCS") == "" {
			t.Errorf("%s: got\n%s\nwhich is not what %s shows; UTIPC_UPDATE_DOCS=1 writes it anew", m[1], out, name)
		}
		return "```\n$ utipc " + m[1] + m[2] + "\n" + out + "```"
	})
	if n < 4 {
		t.Errorf("got %d commands with their output in %s, want 4", n, name)
	}
	if os.Getenv("UTIPC_UPDATE_DOCS") != "" && now != string(text) {
		if err := os.WriteFile("docs/how-to/decode.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
