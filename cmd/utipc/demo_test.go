// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/utipc/utipc/internal/cmdline"
)

// The picture of the demo in docs has the lines that it prints.
//
// Mutation it catches: the demo prints another sentence for the node that it ends; a line is removed
// from docs/images/demo.svg.
//
// Proves: house.setup, tools.demo
func TestDemo(t *testing.T) { checkPicture(t, testDemo(t, nil, "multicast, 64 B, to three")) }

// Proves: keys.node
func TestDemoEncrypt(t *testing.T) {
	testDemo(t, []string{"--encrypt"}, "every frame was sealed: alpha sealed ")
}

func testDemo(t *testing.T, args []string, want string) (output string) {
	t.Helper()
	t.Parallel()
	var out, errs bytes.Buffer
	begin := time.Now()
	if code := run(t.Context(), append([]string{"demo"}, args...), nil, &out, &errs); code != cmdline.Done {
		t.Fatalf("exit %d: %s%s", code, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwant %q", &out, want)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if got, want := lines[len(lines)-1], "demo: ok"; got != want {
		t.Errorf("last line %q, want %q", got, want)
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > demoWidth {
			t.Errorf("a line of %d characters: %q", n, l)
		}
	}
	t.Logf("took %v, promised under 10s\n%s", time.Since(begin).Round(time.Millisecond), out.String())
	return out.String()
}
