// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every snippet of docs/tutorials/programming.md, docs/reference/api.md and docs/how-to/test.md is a part of an
// example or a test that is compiled and run.
//
// Proves: house.docs
func TestProgrammingSnippets(t *testing.T) {
	code := ""
	for _, pattern := range []string{"../stack/example*_test.go", "../examples/*/main.go", "../stacktest/howto_test.go", "../stacktest/replay/test_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code += unindented(string(b)) + "\n"
		}
	}
	for _, name := range []string{"docs/tutorials/programming.md", "docs/reference/api.md", "docs/how-to/test.md"} {
		snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(texts(t)[name], -1)
		if len(snippets) < 5 {
			t.Errorf("%s: found %d snippets", name, len(snippets))
		}
		for _, s := range snippets {
			if !strings.Contains(code, unindented(s[1])) {
				t.Errorf("%s: no example has this snippet:\n%s", name, s[1])
			}
		}
	}
}

// unindented is s without the white space around its lines.
func unindented(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
