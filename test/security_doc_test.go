// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testNames are the tests that a text names, by package: `pkg`: `TestX`; those
// before the first package of a part are in pkg.
func testNames(pkg, text string) (names [][2]string) {
	quoted := regexp.MustCompile("`([^`]+)`(:?)")
	for part := range strings.SplitSeq(text, ";") {
		pkg := pkg
		for _, m := range quoted.FindAllStringSubmatch(part, -1) {
			switch {
			case m[2] == ":":
				pkg = m[1]
			case strings.HasPrefix(m[1], "Test") || strings.HasPrefix(m[1], "Fuzz"):
				names = append(names, [2]string{pkg, m[1]})
			}
		}
	}
	return names
}

// Every sentence of the tables of docs/explanation/security.md, and every promise on keys, has a test,
// and each that is named anywhere is there.
//
// Proves: hostile.docs
func TestSecuritySentencesHaveTests(t *testing.T) {
	text, err := os.ReadFile("../docs/explanation/security.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	look := func(names [][2]string, where string, needed bool) {
		if needed && len(names) == 0 {
			t.Errorf("no test behind %q", where)
		}
		for _, n := range names {
			if _, ok := have[n[0]]; !ok {
				files, _ := filepath.Glob("../" + n[0] + "/*_test.go")
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err != nil {
						t.Error(err)
					}
					have[n[0]] += string(b)
				}
			}
			if !strings.Contains(have[n[0]], "\nfunc "+n[1]+"(") {
				t.Errorf("%s: no test %s, in %q", n[0], n[1], where)
			}
		}
	}
	rows, points := 0, 0
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		pkg := "stack/engine"
		if m := regexp.MustCompile("Tests stand in `([^`]+)`").FindStringSubmatch(section); m != nil {
			pkg = m[1]
		}
		for block := range strings.SplitSeq(section, "\n\n") {
			switch block = strings.TrimSpace(block); {
			case strings.HasPrefix(block, "|"):
				lines := strings.Split(block, "\n")
				for i, line := range lines {
					cells := strings.Split(strings.Trim(line, "|"), "|")
					last := cells[len(cells)-1]
					if i == 0 && strings.TrimSpace(last) != "test" {
						t.Errorf("a table without tests: %q", line)
					}
					if i >= 2 {
						rows++
						look(testNames(pkg, last), line, true)
					}
				}
			case strings.HasPrefix(block, "* ") && title == "Keys":
				for point := range strings.SplitSeq(block, "\n* ") {
					promise := strings.HasPrefix(strings.TrimPrefix(point, "* "), "**") // else a note on others
					if promise {
						points++
					}
					look(testNames(pkg, point), point, promise)
				}
			default:
				look(testNames(pkg, block), block, false)
			}
		}
	}
	if rows < 35 || points < 10 {
		t.Errorf("only %d sentences and %d points were found", rows, points)
	}
}
