// SPDX-License-Identifier: Apache-2.0

package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// texts are the files of documentation, by their path from the root.
func texts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"../*.md", "../.github/*.md", "../docs/*.md", "../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found[strings.TrimPrefix(f, "../")] = string(b)
		}
	}
	return found
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	indented = regexp.MustCompile(`(?m)^(    |\t).*$`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	unspoken = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	codePath = regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*/[a-zA-Z0-9_./-]*)`")
)

// anchors are what the headings of a text can be linked by.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		a := unspoken.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(a, " ", "-")] = true
	}
	return found
}

// Every link of README, its neighbours and docs leads to a file that is there, and to a heading in it;
// every path in backquotes that begins with a folder of this repository is there too.
//
// Proves: house.docs
func TestDocumentationLinks(t *testing.T) {
	all := texts(t)
	links, paths := 0, 0
	for name, text := range all {
		text = indented.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat("../" + target); err != nil {
				t.Errorf("%s: link to %s: %v", name, m[1], err)
				continue
			}
			if anchor != "" && !anchors(all[target])[anchor] {
				t.Errorf("%s: link to %s: no such heading", name, m[1])
			}
		}
		for _, m := range codePath.FindAllStringSubmatch(text, -1) {
			folder, _, _ := strings.Cut(m[1], "/")
			if _, err := os.Stat("../" + folder); err != nil {
				continue // of another thing: a network, a kernel's file
			}
			paths++
			if _, err := os.Stat("../" + m[1]); err != nil {
				t.Errorf("%s: `%s`: %v", name, m[1], err)
			}
		}
	}
	if links < 40 || paths < 100 {
		t.Errorf("found %d links and %d paths", links, paths)
	}
}
