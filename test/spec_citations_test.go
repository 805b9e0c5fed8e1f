// SPDX-License-Identifier: Apache-2.0

package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A clause is what a text cites of docs/spec: a file, by number, and sections of it.
var (
	clause    = regexp.MustCompile(`\b(0[1-9]|10)(-[a-z-]+\.md)?\)?((?:,? (?:and )?§\d+(?:\.\d+)?)+)`)
	whole     = regexp.MustCompile(`docs/spec/([0-9a-z-]+\.md)`)
	section   = regexp.MustCompile(`\d+(?:\.\d+)?`)
	specTitle = regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)?)\.? `)
	specItem  = regexp.MustCompile(`(?m)^(\d+)\. `)
	continued = regexp.MustCompile(`\n\s*//\s*`)
)

// sections are what can be cited of a file of docs/spec: its numbered headings, and the
// points of numbered lists, as 12.9.
func sections(text string) map[string]bool {
	found := map[string]bool{}
	heads := specTitle.FindAllStringSubmatchIndex(text, -1)
	for i, h := range heads {
		number, end := text[h[2]:h[3]], len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		found[number] = true
		if strings.Contains(number, ".") {
			continue
		}
		for _, m := range specItem.FindAllStringSubmatch(text[h[1]:end], -1) {
			found[number+"."+m[1]] = true
		}
	}
	return found
}

// Every clause of docs/spec that the code or the documentation cites is there.
//
// Proves: house.docs
func TestSpecCitations(t *testing.T) {
	files, have := map[string]string{}, map[string]map[string]bool{}
	cited := 0
	look := func(name, text string) {
		text = continued.ReplaceAllString(text, " ")
		for _, m := range whole.FindAllStringSubmatch(text, -1) {
			cited++
			if _, err := os.Stat("../docs/spec/" + m[1]); err != nil {
				t.Errorf("%s cites %s: %v", name, m[0], err)
			}
		}
		for _, m := range clause.FindAllStringSubmatch(text, -1) {
			if m[2] != "" && m[1]+m[2] != files[m[1]] {
				t.Errorf("%s cites %s, which is %s", name, m[1]+m[2], files[m[1]])
			}
			for _, s := range section.FindAllString(m[3], -1) {
				cited++
				if !have[m[1]][s] {
					t.Errorf("%s cites %s §%s, which is not there", name, files[m[1]], s)
				}
			}
		}
	}
	all := texts(t)
	for name, text := range all {
		if dir, file := filepath.Split(name); dir == "docs/spec/" {
			files[file[:2]], have[file[:2]] = file, sections(text)
		}
	}
	for name, text := range all {
		look(name, text)
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || path == "../test/spec_citations_test.go" {
			return err
		}
		b, err := os.ReadFile(path)
		look(strings.TrimPrefix(path, "../"), string(b))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if len(files) != 10 || cited < 200 {
		t.Errorf("found %d specifications, cited %d times", len(files), cited)
	}
}
