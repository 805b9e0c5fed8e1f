// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every Go snippet of docs/tutorials/programming.md, docs/reference/api.md and the pages of docs/how-to is a part of an
// example or a test that is compiled and run.
//
// Mutation it catches: docs/how-to/restart.md has "fmt.Fprintf(c, "%d %s\n", have, name)".
//
// Proves: house.docs
func TestProgrammingSnippets(t *testing.T) {
	code := ""
	for _, pattern := range []string{"../stack/example*_test.go", "../examples/*/main.go", "../stacktest/howto_test.go", "../stacktest/replay/test_test.go", "../adapters/raft/kv/main.go"} {
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
	least := map[string]int{ // snippets
		"docs/tutorials/programming.md": 5, "docs/reference/api.md": 5, "docs/how-to/test.md": 5,
		"docs/how-to/discovery.md": 2, "docs/how-to/leader.md": 2, "docs/how-to/replicated.md": 2, "docs/how-to/restart.md": 2, "docs/how-to/shutdown.md": 2,
	}
	for name, text := range texts(t) {
		if least[name] == 0 && !strings.HasPrefix(name, "docs/how-to/") {
			continue
		}
		snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1)
		if len(snippets) < least[name] {
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
