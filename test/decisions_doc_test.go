// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Decisions are numbered without a gap, have the four sections of their kind, each with something
// in it, fit on a page, and are in the index under their title and in their order.
//
// Mutation it catches: a page has no section "Alternatives"; the index leaves out a page, or
// gives it another number.
//
// Proves: house.docs
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob("../docs/decisions/[0-9]*.md")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	head := regexp.MustCompile(`(?m)^# ([0-9]+)\. (.+)$`)
	want := []string{"Context", "Decision", "Consequences", "Alternatives"}
	index := ""
	for i, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name, text := filepath.Base(f), string(b)
		m := head.FindStringSubmatch(text)
		if m == nil || m[1] != fmt.Sprint(i+1) || !strings.HasPrefix(name, fmt.Sprintf("%04d-", i+1)) {
			t.Errorf("%s: the heading is %q, want number %d in both", name, m, i+1)
			continue
		}
		index += fmt.Sprintf("| %d | [%s](%s) |\n", i+1, m[2], name)
		var sections []string
		for section := range strings.SplitSeq(text, "\n## ") {
			title, body, _ := strings.Cut(section, "\n")
			if len(strings.TrimSpace(body)) < 40 {
				t.Errorf("%s: nothing in %q", name, title)
			}
			sections = append(sections, title)
		}
		if !slices.Equal(sections[1:], want) {
			t.Errorf("%s: sections %q, want %q", name, sections[1:], want)
		}
		if n := strings.Count(text, "\n"); n > 60 {
			t.Errorf("%s: %d lines, want a page of at most 60", name, n)
		}
	}
	if !strings.Contains(texts(t)["docs/decisions/README.md"], index) {
		t.Errorf("docs/decisions/README.md does not have these rows:\n%s", index)
	}
}
