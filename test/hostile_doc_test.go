// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/reference/hostile.md names is there, in the package it names.
//
// Proves: hostile.docs
func TestHostileTableNamesTests(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/hostile.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{} // by package
	in := func(pkg string) string {
		if _, ok := have[pkg]; !ok {
			files, _ := filepath.Glob("../" + pkg + "/*_test.go")
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Error(err)
				}
				have[pkg] += string(b)
			}
		}
		return have[pkg]
	}
	quoted := regexp.MustCompile("`([^`]+)`(:?)")
	names := 0
	for _, line := range strings.Split(string(text), "\n\n") {
		for _, line := range strings.Split(line, "|\n") {
			for _, part := range strings.Split(line, ";") { // of one package each
				pkg := "stack/engine"
				for _, m := range quoted.FindAllStringSubmatch(part, -1) {
					switch name := m[1]; {
					case m[2] == ":":
						pkg = name
					case strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"):
						names++
						if !strings.Contains(in(pkg), "\nfunc "+name+"(") {
							t.Errorf("%s: no test %s, in %q", pkg, name, strings.TrimSpace(part))
						}
					}
				}
			}
		}
	}
	if names < 80 {
		t.Errorf("only %d names were found", names)
	}
}
